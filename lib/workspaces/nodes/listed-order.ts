import type { ByteString } from '../../byte-string.ts';

/** One entry of a listing. */
export interface ListedName {
  readonly name: ByteString;
  /** Changed only while its listing is made. */
  cookie: number;
  /** S_IFMT bits. */
  type: number;
  gone: boolean;
}

/** Names of one part. */
const PART = 1 << 12;
/** Removed names that a part keeps at least. */
const FEW = 64;

interface Part {
  names: ListedName[];
  gone: number;
}

/**
 * The names of a listing in the order of their cookies. They are in parts, so that no addition copies a million of them,
 * and no removal looks through them all.
 */
export class ListedOrder {
  readonly #parts: Part[] = [];

  /** Adds a name whose cookie is larger than all others. */
  push(listed: ListedName): void {
    const last = this.#parts.at(-1);
    if (last !== undefined && last.names.length < PART) last.names.push(listed);
    else this.#parts.push({ names: [listed], gone: 0 });
  }

  /** Called after a name is `gone`. A part that has mostly such names drops them. */
  gone({ cookie }: ListedName): void {
    const at = this.#partAfter(cookie - 1);
    const part = this.#parts[at];
    if (part === undefined || ++part.gone < FEW || part.gone * 2 < part.names.length) return;
    part.names = part.names.filter((other) => !other.gone);
    part.gone = 0;
    if (part.names.length === 0) this.#parts.splice(at, 1);
  }

  /** The names after `cookie` that are not gone. The caller changes nothing during the iteration. */
  *after(cookie: number): Generator<ListedName> {
    for (let at = this.#partAfter(cookie); at < this.#parts.length; at++) {
      const { names } = this.#parts[at]!;
      const from = firstIndex(names.length, (index) => names[index]!.cookie > cookie);
      for (let index = from; index < names.length; index++) if (!names[index]!.gone) yield names[index]!;
    }
  }

  /** Index of the first part with a name after `cookie`. */
  #partAfter(cookie: number): number {
    return firstIndex(this.#parts.length, (index) => this.#parts[index]!.names.at(-1)!.cookie > cookie);
  }
}

/** The first index for which `holds` is true, if it is then true for all later ones; `length`: there is none. */
function firstIndex(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  for (let high = length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

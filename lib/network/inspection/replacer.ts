/** What stands for what. `to` undefined: `from` must not pass. */
export interface Replacement {
  from: Buffer;
  to: Buffer | undefined;
  /** The secret. */
  name: string;
}

/** Something that must not pass was found. */
export class FoundError extends Error {
  readonly secret: string;

  constructor(secret: string) {
    super('a placeholder must not be sent there');
    this.secret = secret;
  }
}

/**
 * Replaces texts in a stream of bytes, also those that are split across chunks. Only bytes that may be the beginning of
 * such a text are held back, so that a stream of events is not delayed.
 */
export class Replacer {
  readonly #replacements: readonly Replacement[];
  readonly #longest: number;
  #held: Buffer = Buffer.alloc(0);

  constructor(replacements: readonly Replacement[]) {
    this.#replacements = replacements;
    this.#longest = Math.max(0, ...replacements.map(({ from }) => from.length));
  }

  /** Whether the length of what passes can change. */
  get changesLength(): boolean {
    return this.#replacements.some(({ from, to }) => to !== undefined && to.length !== from.length);
  }

  /** Throws FoundError; nothing of what was found has been returned then. */
  push(chunk: Buffer): Buffer {
    const input = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const { output, rest } = this.#replace(input);
    const keep = this.#beginning(rest);
    this.#held = rest.subarray(rest.length - keep);
    output.push(rest.subarray(0, rest.length - keep));
    return output.length === 1 ? output[0]! : Buffer.concat(output);
  }

  end(): Buffer {
    const last = this.#held;
    this.#held = Buffer.alloc(0);
    return last;
  }

  whole(bytes: Buffer): Buffer {
    return Buffer.concat([this.push(bytes), this.end()]);
  }

  #replace(input: Buffer): { output: Buffer[]; rest: Buffer } {
    const output: Buffer[] = [];
    const next = this.#replacements.map(({ from }) => input.indexOf(from));
    let start = 0;
    for (;;) {
      let first = -1;
      for (const [index, at] of next.entries()) {
        if (at >= 0 && at < start) next[index] = input.indexOf(this.#replacements[index]!.from, start);
        if (next[index]! >= 0 && (first < 0 || next[index]! < next[first]!)) first = index;
      }
      if (first < 0) return { output, rest: input.subarray(start) };
      const { from, to, name } = this.#replacements[first]!;
      if (to === undefined) throw new FoundError(name);
      output.push(input.subarray(start, next[first]!), to);
      start = next[first]! + from.length;
    }
  }

  /** Bytes at the end that may be the beginning of a text to replace. */
  #beginning(bytes: Buffer): number {
    for (let at = Math.max(0, bytes.length - this.#longest + 1); at < bytes.length; at++) {
      const tail = bytes.subarray(at);
      const isBegun = ({ from }: Replacement) =>
        from[0] === tail[0] && tail.length < from.length && from.compare(tail, 0, tail.length, 0, tail.length) === 0;
      if (this.#replacements.some(isBegun)) return tail.length;
    }
    return 0;
  }
}

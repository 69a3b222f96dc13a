import { LastBytes } from '../../../lib/last-bytes.ts';
import { endOfCharacters, startOfCharacters } from '../../../lib/text-tools/whole-characters.ts';

/** Bytes of output in one answer. Clients warn above about 10,000 tokens. */
export const SHOWN_BYTES = 20_000;
const HALF = SHOWN_BYTES / 2;

/** The beginning and the end of an output. */
export class OutputWindow {
  #head = Buffer.alloc(0);
  readonly #tail = new LastBytes(HALF, (bytes) => bytes);
  #total = 0;
  #missing = 0;

  append(data: Uint8Array): void {
    const room = this.#total < HALF ? HALF - this.#head.length : 0;
    this.#total += data.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, data.subarray(0, room)]);
    if (data.length > room) this.#tail.append(data.subarray(room));
  }

  /** Counts bytes that are no longer known. */
  skip(bytes: number): void {
    this.#missing += bytes;
  }

  /** `omitted`: bytes that are not in the text; they begin at `from`. */
  get shown(): { before: string; after: string; omitted: number; from: number } {
    const tail = Buffer.concat(this.#tail.chunks);
    if (this.#total <= SHOWN_BYTES) {
      const before = Buffer.concat([this.#head, tail]).toString();
      return { before, after: '', omitted: this.#missing, from: this.#total };
    }
    const head = this.#head.subarray(0, endOfCharacters(this.#head));
    const after = tail.subarray(startOfCharacters(tail));
    const omitted = this.#total + this.#missing - head.length - after.length;
    return { before: head.toString(), after: after.toString(), omitted, from: head.length };
  }
}

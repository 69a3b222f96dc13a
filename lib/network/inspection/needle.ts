/** Up to this many bytes Node's own search is fast for any text. */
const SHORT = 256;
/** Bytes at the beginning that Node's own search finds first: most of what is searched has none of them. */
const HEAD = 8;

/**
 * A text that is searched for, in a time that is linear in the length of what is searched, whatever both are: an owner
 * chooses the text, and a server that may be the owner's what is searched.
 */
export class Needle {
  readonly bytes: Buffer;
  readonly #head: Buffer;
  /** For each length of a beginning: the length of the longest shorter beginning that this one ends with. */
  readonly #shorter: Uint32Array;

  constructor(text: string) {
    this.bytes = Buffer.from(text);
    this.#head = this.bytes.subarray(0, HEAD);
    this.#shorter = new Uint32Array(this.bytes.length + 1);
    for (let length = 1, matched = 0; length < this.bytes.length; length++) {
      matched = this.#next(matched, this.bytes[length]!);
      this.#shorter[length + 1] = matched;
    }
  }

  /** Where it begins, from `start` on; -1: nowhere. */
  indexIn(input: Buffer, start: number): number {
    if (this.bytes.length <= SHORT) return input.indexOf(this.bytes, start);
    const first = input.indexOf(this.#head, start);
    if (first < 0) return -1;
    let matched = 0;
    for (let at = first; at < input.length; at++) {
      matched = this.#next(matched, input[at]!);
      if (matched === this.bytes.length) return at + 1 - matched;
    }
    return -1;
  }

  /** The most bytes at the end of `input`, which does not have the whole text, that the text begins with. */
  begunIn(input: Buffer): number {
    const from = Math.max(0, input.length - this.bytes.length + 1);
    const first = input.indexOf(this.#head, from);
    let matched = 0;
    for (let at = first < 0 ? Math.max(from, input.length - HEAD + 1) : first; at < input.length; at++) {
      matched = this.#next(matched, input[at]!);
    }
    return matched;
  }

  /** Knuth, Morris and Pratt: the length of the longest beginning that ends with this byte, after one of `matched` bytes. */
  #next(matched: number, byte: number): number {
    let length = matched;
    while (length > 0 && this.bytes[length] !== byte) length = this.#shorter[length]!;
    return this.bytes[length] === byte ? length + 1 : 0;
  }
}

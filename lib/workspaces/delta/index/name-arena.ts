import { type ByteString, fromBuffer } from '../../../byte-string.ts';

const BLOCK = 2048;
/** Longest name in bytes. */
const LONGEST = 255;

/** Names packed into buffers: one byte for the length, then the name. A string of V8 needs 16 bytes more. */
export class NameArena {
  readonly #blocks: Buffer[] = [];
  #end = 0;
  /** Bytes of names that were removed. */
  #removed = 0;

  /** Adds the part of `text` from `start` to `end` and returns its position. Throws if it is longer than 255 bytes. */
  add(text: ByteString, start: number, end: number): number {
    const length = end - start;
    if (length > LONGEST) throw new Error(`a name has ${length} bytes`);
    if ((this.#end % BLOCK) + length >= BLOCK) this.#end += BLOCK - (this.#end % BLOCK);
    const position = this.#end;
    const number = Math.floor(position / BLOCK);
    this.#blocks[number] ??= Buffer.allocUnsafeSlow(BLOCK);
    const block = this.#blocks[number];
    const at = position % BLOCK;
    block[at] = length;
    for (let byte = 0; byte < length; byte++) block[at + 1 + byte] = text.charCodeAt(start + byte);
    this.#end += 1 + length;
    return position;
  }

  /** Whether the name at a position is the part of `text` from `start` to `end`. */
  matches(position: number, text: ByteString, start: number, end: number): boolean {
    const block = this.#blocks[Math.floor(position / BLOCK)]!;
    const at = position % BLOCK;
    if (block[at] !== end - start) return false;
    for (let byte = start; byte < end; byte++) {
      if (block[at + 1 + byte - start] !== text.charCodeAt(byte)) return false;
    }
    return true;
  }

  /** Returns the name at a position. */
  get(position: number): ByteString {
    const block = this.#blocks[Math.floor(position / BLOCK)]!;
    const at = position % BLOCK;
    return fromBuffer(block.subarray(at + 1, at + 1 + block[at]!));
  }

  /** Returns the length in bytes of the name at a position. */
  lengthOf(position: number): number {
    return this.#blocks[Math.floor(position / BLOCK)]![position % BLOCK]!;
  }

  /** Removes the name at a position. Its room is used again when the names are copied to another arena. */
  remove(position: number): void {
    this.#removed += 1 + this.lengthOf(position);
  }

  /** Whether most of a large arena is unused. */
  get isSparse(): boolean {
    return this.#removed > 16 * BLOCK && this.#removed * 2 > this.#end;
  }
}

import { BLOCK, BLOCK_HEAD, type Chunk, type LogStream, RECORD_HEAD, tagOf, writeBlockHead } from './format.ts';

/** Bytes of the buffer of a full batch. */
export const BATCH = 256 * 1024;
const SMALLEST = 1024;

/**
 * Output on its way to the disk, encoded. It begins where the batch before it ended, also within a block. Consecutive
 * output of one stream becomes one record. Nothing is appended while it is written.
 */
export class Batch implements Chunk {
  readonly position: number;
  readonly start: number;
  #buffer: Buffer;
  #length = 0;
  #end: number;
  /** Place of the last record; below 0: there is none that could grow. */
  #record = -1;
  #tag = 0;

  /** `buffer`: one that is needed no more, to be used again. */
  constructor(position: number, start: number, buffer: Buffer = Buffer.allocUnsafeSlow(SMALLEST)) {
    this.position = position;
    this.start = start;
    this.#end = start;
    this.#buffer = buffer;
  }

  /** Encoded bytes. */
  get length(): number {
    return this.#length;
  }

  /** Offset after the last byte of output. */
  get end(): number {
    return this.#end;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** The encoded bytes, with zeros up to the end of the last block, where no record begins. */
  get padded(): Buffer {
    const end = this.#length + ((BLOCK - ((this.position + this.#length) % BLOCK)) % BLOCK);
    return this.#buffer.subarray(0, end).fill(0, this.#length);
  }

  get buffer(): Buffer {
    return this.#buffer;
  }

  append(stream: LogStream, data: Uint8Array): void {
    this.#reserve(data.length);
    const tag = tagOf(stream);
    for (let taken = 0; taken < data.length; ) taken += this.#put(tag, data, taken);
  }

  /** Puts as much as fits into one block. Returns the number of bytes. */
  #put(tag: number, data: Uint8Array, from: number): number {
    const within = (this.position + this.#length) % BLOCK;
    if (within === 0 || this.#record < 0 || this.#tag !== tag) this.#begin(tag, within);
    const room = BLOCK - ((this.position + this.#length) % BLOCK);
    const count = Math.min(room, data.length - from);
    this.#buffer.set(count === data.length ? data : data.subarray(from, from + count), this.#length);
    const length = this.#record + 1;
    this.#buffer.writeUInt16LE(this.#buffer.readUInt16LE(length) + count, length);
    this.#length += count;
    this.#end += count;
    return count;
  }

  /** Begins an empty record, in a new block if this one has no room for a head and a byte. */
  #begin(tag: number, within: number): void {
    let place = within;
    if (place !== 0 && BLOCK - place <= RECORD_HEAD) {
      this.#buffer.fill(0, this.#length, this.#length + BLOCK - place);
      this.#length += BLOCK - place;
      place = 0;
    }
    if (place === 0) {
      writeBlockHead(this.#buffer, this.#length, this.#end, BLOCK_HEAD);
      this.#length += BLOCK_HEAD;
    }
    this.#record = this.#length;
    this.#tag = tag;
    this.#buffer[this.#length] = tag;
    this.#buffer.writeUInt16LE(0, this.#length + 1);
    this.#length += RECORD_HEAD;
  }

  /** Makes room for `count` bytes of output, the heads of their blocks and records, and the rest of the last block. */
  #reserve(count: number): void {
    const blocks = Math.ceil(count / (BLOCK - BLOCK_HEAD - RECORD_HEAD)) + 1;
    const needed = this.#length + count + blocks * (BLOCK_HEAD + 2 * RECORD_HEAD) + BLOCK;
    if (needed <= this.#buffer.length) return;
    // A full batch has exactly BATCH bytes, so that its buffer fits the next one.
    const buffer = Buffer.allocUnsafeSlow(needed > BATCH ? needed : 2 ** Math.ceil(Math.log2(needed)));
    this.#buffer.copy(buffer, 0, 0, this.#length);
    this.#buffer = buffer;
  }
}

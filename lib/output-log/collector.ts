import { giveBack } from '../recycled-buffers.ts';
import {
  BLOCK,
  BLOCK_HEAD,
  blockOffset,
  type Chunk,
  firstRecord,
  type LogStream,
  RECORD_HEAD,
  streamOf,
} from './format.ts';

/** Consecutive output of one stream. */
export interface Piece {
  stream: LogStream;
  /** Offset of the first byte. */
  offset: number;
  data: Buffer;
}

/** Bounds the time of one read of a log in which the streams alternate byte by byte. */
const MAX_PIECES = 1024;

/** The answer to one read of a log: a copy of the output of several chunks, in order. */
export class Collector {
  readonly #pieces: { stream: LogStream; offset: number; from: number; to: number }[] = [];
  readonly #buffer: Buffer;
  #length = 0;
  #gap = 0;
  #next: number;

  /** `size`: maximum bytes of output. */
  constructor(offset: number, size: number) {
    this.#next = offset;
    this.#buffer = Buffer.allocUnsafe(size);
  }

  /** Offset of the next byte that is needed. */
  get next(): number {
    return this.#next;
  }

  get empty(): boolean {
    return this.#length === 0;
  }

  get full(): boolean {
    return this.#length === this.#buffer.length || this.#pieces.length === MAX_PIECES;
  }

  /** Bytes that it still takes. */
  get room(): number {
    return this.#buffer.length - this.#length;
  }

  /** Leaves out the output before `offset`, which is missing. Only before the first piece. */
  skip(offset: number): void {
    this.#gap += offset - this.#next;
    this.#next = offset;
  }

  /** Copies output from `next` on, up to the end of the chunk or its first damage. Returns whether there was any. */
  take(chunk: Chunk): boolean {
    const { bytes, position } = chunk;
    const before = this.#length;
    let at = findBlock(chunk, this.#next);
    let offset = (at === 0 && position % BLOCK !== 0 ? chunk.start : blockOffset(bytes, at)) ?? 0;
    while (at < bytes.length && !this.full) {
      const within = (position + at) % BLOCK;
      if (within === 0) {
        const first = firstRecord(bytes, at);
        if (blockOffset(bytes, at) !== offset || first < BLOCK_HEAD) break;
        at += first;
      } else if (BLOCK - within <= RECORD_HEAD) {
        at += BLOCK - within;
      } else {
        const stream = streamOf(bytes[at]);
        const count = stream === undefined || at + RECORD_HEAD > bytes.length ? 0 : bytes.readUInt16LE(at + 1);
        at += RECORD_HEAD;
        if (stream === undefined || count === 0 || within + RECORD_HEAD + count > BLOCK) break;
        if (at + count > bytes.length) break;
        if (offset + count > this.#next) this.#copy(stream, bytes, at + this.#next - offset, at + count);
        at += count;
        offset += count;
      }
    }
    return this.#length > before;
  }

  /** Copies output at `next`, and gives its data back. */
  add({ stream, data }: Piece): true {
    this.#copy(stream, data, 0, data.length);
    giveBack(data);
    return true;
  }

  result(): { gap: number; pieces: Piece[]; next: number } {
    // A short answer must not keep the memory of a long one.
    const wasteful = this.#length < this.#buffer.length / 2;
    const output = wasteful ? Buffer.from(this.#buffer.subarray(0, this.#length)) : this.#buffer;
    const pieces = this.#pieces.map(({ stream, offset, from, to }) => ({
      stream,
      offset,
      data: output.subarray(from, to),
    }));
    return { gap: this.#gap, pieces, next: this.#next };
  }

  #copy(stream: LogStream, bytes: Buffer, from: number, to: number): void {
    const copied = bytes.copy(this.#buffer, this.#length, from, to);
    const last = this.#pieces.at(-1);
    if (last?.stream === stream) last.to += copied;
    else this.#pieces.push({ stream, offset: this.#next, from: this.#length, to: this.#length + copied });
    this.#length += copied;
    this.#next += copied;
  }
}

/** The place of the last block that begins at `offset` or before; 0 if there is none, as a chunk may begin within one. */
function findBlock({ bytes, position }: Chunk, offset: number): number {
  let found = 0;
  for (let at = (BLOCK - (position % BLOCK)) % BLOCK; at < bytes.length; at += BLOCK) {
    const begins = blockOffset(bytes, at);
    if (begins === undefined || begins > offset) break;
    found = at;
  }
  return found;
}

/** The offset after the last whole record of a block; undefined if its head is torn or damaged. */
export function endOfBlock(bytes: Buffer): number | undefined {
  const offset = blockOffset(bytes, 0);
  if (offset === undefined) return undefined;
  // Never full: a block has fewer records than an answer may have pieces.
  const collector = new Collector(offset, BLOCK);
  collector.take({ position: 0, start: offset, bytes });
  return collector.next;
}

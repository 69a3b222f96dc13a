import { giveBack, RECYCLED_BYTES, recycledBuffer, sharedView } from '../recycled-buffers.ts';
import type { Piece } from './collector.ts';
import type { LogStream } from './format.ts';

/** Data of at least so many bytes is kept as it is; less is copied together. */
const WHOLE = RECYCLED_BYTES / 2;
const SMALLEST = 256;
/**
 * Fixed cost of a piece in bytes: its objects, and room in its buffer. So single bytes of alternating streams do not need
 * more memory than counted.
 */
export const PIECE_COST = 768;

interface Kept {
  stream: LogStream;
  start: number;
  end: number;
  /** The output, and perhaps room after it. */
  buffer: Buffer;
  open: boolean;
}

/**
 * The newest output of a log in memory, for its readers and until it is on the disk. What was appended does not move or
 * change, so readers get it without a copy.
 */
export class LiveTail {
  #pieces: Kept[] = [];
  #cost = 0;

  /** Offset of the first byte; undefined: it is empty. */
  get start(): number | undefined {
    return this.#pieces[0]?.start;
  }

  /** Bytes of output and the costs of their pieces so far, in all. */
  get cost(): number {
    return this.#cost;
  }

  /** `offset`: that of the first byte. The data must not change afterwards; it is given back when it is not needed. */
  append(stream: LogStream, offset: number, data: Buffer): void {
    this.#cost += data.length;
    const last = this.#pieces.at(-1);
    const follows = last?.stream === stream && last.open;
    const gathered = follows ? data.copy(last.buffer, last.end - last.start) : 0;
    if (last) last.end += gathered;
    if (gathered < data.length) this.#add(stream, offset + gathered, data, gathered, last);
    else giveBack(data);
  }

  #add(stream: LogStream, start: number, data: Buffer, from: number, last: Kept | undefined): void {
    this.#cost += PIECE_COST;
    const end = start + data.length - from;
    if (from === 0 && data.length >= WHOLE) {
      this.#pieces.push({ stream, start, end, buffer: data, open: false });
      return;
    }
    const room = Math.max(SMALLEST, data.length - from, last?.stream === stream ? 2 * last.buffer.length : 0);
    const buffer = room > RECYCLED_BYTES / 4 ? recycled(data.length - from) : Buffer.allocUnsafeSlow(room);
    data.copy(buffer, 0, from);
    giveBack(data);
    this.#pieces.push({ stream, start, end, buffer, open: true });
  }

  /** Output from `offset` on, of one stream and at most `maxBytes`, without a copy; undefined: it has none there. */
  at(offset: number, maxBytes: number): Piece | undefined {
    const kept = this.#pieces[this.#find(offset)];
    if (kept === undefined || offset < kept.start || kept.end <= offset) return undefined;
    const from = offset - kept.start;
    const to = Math.min(kept.end - kept.start, from + maxBytes);
    return { stream: kept.stream, offset, data: sharedView(kept.buffer, from, to) };
  }

  /** Drops the pieces that end at `offset` or before. */
  drop(offset: number): void {
    let count = 0;
    while (count < this.#pieces.length && this.#pieces[count]!.end <= offset) giveBack(this.#pieces[count++]!.buffer);
    if (count > 0) this.#pieces = this.#pieces.slice(count);
  }

  /** The last piece that begins at `offset` or before. */
  #find(offset: number): number {
    let low = 0;
    let high = this.#pieces.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#pieces[middle]!.start <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

const recycled = (size: number): Buffer => (size > RECYCLED_BYTES ? Buffer.allocUnsafeSlow(size) : recycledBuffer());

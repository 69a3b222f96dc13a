import { giveBack } from '../recycled-buffers.ts';
import { BATCH, Batch } from './batch.ts';
import { BLOCK, BLOCK_HEAD, RECORD_HEAD } from './format.ts';
import { type LiveTail, PIECE_COST } from './live-tail.ts';

/** The output of a log that was not yet handed over to the disk: the end of what is in memory. */
export class WaitingOutput {
  readonly #tail: LiveTail;
  /** Offset of its first byte. */
  #start: number;
  /** Cost of all output before it. */
  #costBefore = 0;
  /** Encoded position of its first byte. */
  #position = 0;
  /** A buffer to use again. */
  #spare: Buffer | undefined;

  constructor(tail: LiveTail, start: number) {
    this.#tail = tail;
    this.#start = start;
  }

  get start(): number {
    return this.#start;
  }

  get cost(): number {
    return this.#tail.cost - this.#costBefore;
  }

  /** About as many bytes as it will have when it is encoded. `end`: offset after its last byte. */
  lengthTo(end: number): number {
    const bytes = end - this.#start;
    const pieces = (this.cost - bytes) / PIECE_COST + 1;
    return Math.ceil((bytes / (BLOCK - BLOCK_HEAD - RECORD_HEAD)) * BLOCK + pieces * RECORD_HEAD);
  }

  /** Encodes all of it, to be handed over. `end`: offset after its last byte. */
  take(end: number): Batch {
    const batch = new Batch(this.#position, this.#start, this.#spare);
    this.#spare = undefined;
    while (batch.end < end) {
      const { stream, data } = this.#tail.at(batch.end, Number.POSITIVE_INFINITY)!;
      batch.append(stream, data);
      giveBack(data);
    }
    this.#position = batch.position + batch.length;
    this.#start = batch.end;
    this.#costBefore = this.#tail.cost;
    return batch;
  }

  /** The batch is written: its buffer is used again. */
  written({ buffer }: Batch): void {
    if (buffer.length <= BATCH) this.#spare = buffer;
  }

  /** Releases what only a busy log needs. */
  rest(): void {
    this.#spare = undefined;
  }
}

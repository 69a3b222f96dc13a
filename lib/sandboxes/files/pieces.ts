import { giveBack } from '../../recycled-buffers.ts';
import { ownBytes } from '../../threads/own-bytes.ts';

/** Contents up to this size are sent without a buffer of the piece's size. */
const SMALL = 1 << 16;

/**
 * Regroups bytes into pieces of `size`, the last one shorter, and sends one while the next one is filled. Larger contents
 * use two buffers of shared memory in turn, which other threads read without a copy: `send` must not keep its argument. The
 * chunks belong to this function; they may be used again when they are copied.
 * No bytes: nothing is sent. Rejects, when nothing is being sent any more, with the first error of either side.
 */
export async function sendInPieces(
  source: AsyncIterable<Uint8Array>,
  size: number,
  send: (piece: Uint8Array) => Promise<void>,
): Promise<void> {
  const pieces = new Pieces(size, send);
  try {
    for await (const chunk of source) {
      for (let from = 0; from < chunk.length; ) {
        from += pieces.add(chunk, from);
        if (pieces.isFull) await pieces.send();
      }
      if (pieces.holdsNone) giveBack(chunk);
    }
    await pieces.send();
  } finally {
    await pieces.settled;
  }
  await pieces.sent;
}

class Pieces {
  readonly #size: number;
  readonly #send: (piece: Uint8Array) => Promise<void>;
  /** Not in use. */
  readonly #free: Uint8Array[] = [];
  #filling: Uint8Array | undefined;
  #held: Uint8Array[] = [];
  #length = 0;
  sent: Promise<void> = Promise.resolve();

  constructor(size: number, send: (piece: Uint8Array) => Promise<void>) {
    this.#size = size;
    this.#send = send;
  }

  /** Whether all that was added has been copied. */
  get holdsNone(): boolean {
    return this.#held.length === 0;
  }

  get isFull(): boolean {
    return this.#length === this.#size;
  }

  /** Resolves when nothing is being sent. Never rejects. */
  get settled(): Promise<void> {
    return this.sent.catch(() => undefined);
  }

  /** Adds bytes of a chunk, from `from` on, and returns their number. */
  add(chunk: Uint8Array, from: number): number {
    const part = chunk.subarray(from, from + this.#size - this.#length);
    if (this.#filling === undefined && this.#length + part.length > SMALL) this.#startFilling();
    if (this.#filling === undefined) this.#held.push(part);
    else this.#filling.set(part, this.#length);
    this.#length += part.length;
    return part.length;
  }

  /** Sends what was added, if anything, when the one before was sent. Rejects if that failed. */
  async send(): Promise<void> {
    if (this.#length === 0) return;
    const used = this.#filling;
    const piece = used?.subarray(0, this.#length) ?? ownBytes(this.#held, this.#length);
    this.#filling = undefined;
    this.#held = [];
    this.#length = 0;
    await this.sent;
    this.sent = this.#send(piece).then(() => {
      if (used !== undefined) this.#free.push(used);
    });
    // Its failure is reported by the next wait.
    this.sent.catch(() => undefined);
  }

  #startFilling(): void {
    this.#filling = this.#free.pop() ?? new Uint8Array(new SharedArrayBuffer(this.#size));
    let at = 0;
    for (const each of this.#held) {
      this.#filling.set(each, at);
      at += each.length;
    }
    this.#held = [];
  }
}

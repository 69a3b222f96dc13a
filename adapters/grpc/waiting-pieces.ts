/** A piece that waits to be read is part of a buffer of what was read with it, of so many times its size at most. */
const MOST_SPARSE = 4;
/** What the object of a piece costs. */
const PIECE_COST = 256;

/** The memory of pieces that wait in a stream. */
export class WaitingPieces {
  readonly #all: { memory: ArrayBufferLike; bytes: number }[] = [];
  #held = 0;

  get held(): number {
    return this.#held;
  }

  add(piece: Uint8Array): void {
    const last = this.#all.at(-1);
    // Of several pieces of one buffer, the last one that is read frees it.
    if (last?.memory === piece.buffer) {
      this.#held -= last.bytes;
      last.bytes = 0;
    }
    const bytes = piece.buffer.byteLength;
    this.#all.push({ memory: piece.buffer, bytes });
    this.#held += bytes + PIECE_COST;
  }

  /** The first one was read. */
  shift(): void {
    const first = this.#all.shift();
    if (first !== undefined) this.#held -= first.bytes + PIECE_COST;
  }
}

/** The same bytes, in a buffer that is not much longer than they are. */
export function dense(piece: Buffer): Buffer {
  if (piece.buffer.byteLength <= MOST_SPARSE * piece.length) return piece;
  const copy = Buffer.allocUnsafeSlow(piece.length);
  piece.copy(copy);
  return copy;
}

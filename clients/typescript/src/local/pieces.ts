/** Few large pieces: each costs the connection and the server about as much as a file of some kilobytes. */
const BYTES = 256 * 1024;

/** Joins bytes to pieces of one size. What is yielded is not written to again. */
export class Pieces {
  #piece = Buffer.allocUnsafeSlow(BYTES);
  #used = 0;

  *add(bytes: Uint8Array): Generator<Uint8Array, void, void> {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + BYTES - this.#used);
      at += this.fill((room) => {
        room.set(part);
        return part.length;
      });
      yield* this.full();
    }
  }

  /** `write`: writes to the start of the room, which is never empty, and returns how many bytes. Returns that, too. */
  fill(write: (room: Buffer) => number): number {
    const written = write(this.#piece.subarray(this.#used));
    this.#used += written;
    return written;
  }

  /** The piece, if no room is left in it: call after each `fill`. */
  *full(): Generator<Uint8Array, void, void> {
    if (this.#used < BYTES) return;
    yield this.#piece;
    this.#piece = Buffer.allocUnsafeSlow(BYTES);
    this.#used = 0;
  }

  /** What is left, at the end. */
  *rest(): Generator<Uint8Array, void, void> {
    if (this.#used > 0) yield this.#piece.subarray(0, this.#used);
    this.#used = 0;
  }
}

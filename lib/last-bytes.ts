/** The last bytes of what was appended, in a ring that grows up to its capacity. */
export class LastBytes {
  readonly #grow: (bytes: number) => number;
  #capacity: number;
  #ring: Buffer = Buffer.alloc(0);
  #start = 0;
  #length = 0;

  /** `grow` is asked for memory, and returns how many of the bytes it grants; fewer end the growth. */
  constructor(capacity: number, grow: (bytes: number) => number) {
    this.#capacity = capacity;
    this.#grow = grow;
  }

  /** Copies `data`. Returns the number of bytes that are no longer kept, of `data` or of earlier ones. */
  append(data: Uint8Array): number {
    this.#enlarge(this.#length + data.length);
    const size = this.#ring.length;
    const lost = Math.max(0, this.#length + data.length - size);
    if (data.length >= size) {
      this.#ring.set(data.subarray(data.length - size));
      this.#start = 0;
      this.#length = size;
      return lost;
    }
    const end = (this.#start + this.#length) % size;
    const first = data.subarray(0, size - end);
    this.#ring.set(first, end);
    this.#ring.set(data.subarray(first.length), 0);
    this.#start = (this.#start + lost) % size;
    this.#length += data.length - lost;
    return lost;
  }

  /** In order. Valid until the next `append`. */
  get chunks(): Buffer[] {
    const end = this.#start + this.#length;
    const before = this.#ring.subarray(this.#start, end);
    return [before, this.#ring.subarray(0, Math.max(0, end - this.#ring.length))].filter(({ length }) => length > 0);
  }

  /** Doubles the ring, so that the bytes are copied a few times at most. */
  #enlarge(needed: number): void {
    const size = this.#ring.length;
    const wanted = Math.min(this.#capacity, Math.max(needed, 2 * size));
    if (needed <= size || wanted <= size) return;
    const granted = this.#grow(wanted - size);
    if (granted < wanted - size) this.#capacity = size + granted;
    if (granted === 0) return;
    const larger = Buffer.allocUnsafeSlow(size + granted);
    let at = 0;
    for (const chunk of this.chunks) at += chunk.copy(larger, at);
    this.#ring = larger;
    this.#start = 0;
  }
}

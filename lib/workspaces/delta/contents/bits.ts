/** A set of small numbers, one bit each. */
export class Bits {
  #words = new Uint32Array(64);

  add(number: number): void {
    const word = number >>> 5;
    if (word >= this.#words.length) this.#grow(word + 1);
    this.#words[word]! |= 1 << (number & 31);
  }

  has(number: number): boolean {
    return ((this.#words[number >>> 5] ?? 0) & (1 << (number & 31))) !== 0;
  }

  /** Ascending. */
  [Symbol.iterator](): Generator<number, void, void> {
    return new Bits().missing(this);
  }

  /** Those of another set that are not in this one, ascending. */
  *missing(others: Bits): Generator<number, void, void> {
    for (const [index, word] of others.#words.entries()) {
      let left = word & ~(this.#words[index] ?? 0);
      for (; left !== 0; left &= left - 1) yield index * 32 + 31 - Math.clz32(left & -left);
    }
  }

  #grow(words: number): void {
    const larger = new Uint32Array(Math.max(words, this.#words.length * 2));
    larger.set(this.#words);
    this.#words = larger;
  }
}

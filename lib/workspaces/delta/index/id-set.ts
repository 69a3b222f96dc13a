/** Ids in one number. */
const PAGE = 32;

/** A set of ids, which are dense: a bit each. A Set of a million blocks for some hundredths of a second when it grows. */
export class IdSet {
  readonly #pages = new Map<number, number>();

  /** Adds an id. Returns false if it was added before. */
  add(id: number): boolean {
    const number = Math.floor(id / PAGE);
    const page = this.#pages.get(number) ?? 0;
    const bit = 1 << (id % PAGE);
    if ((page & bit) !== 0) return false;
    this.#pages.set(number, page | bit);
    return true;
  }

  has(id: number): boolean {
    return ((this.#pages.get(Math.floor(id / PAGE)) ?? 0) & (1 << (id % PAGE))) !== 0;
  }

  /** All ids. */
  *values(): Generator<number> {
    for (const [number, page] of this.#pages) {
      for (let bit = 0; bit < PAGE; bit++) if ((page & (1 << bit)) !== 0) yield number * PAGE + bit;
    }
  }
}

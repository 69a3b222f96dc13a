/** Keys in one page. */
const PAGE = 1024;

/** A map of dense integers. A Map of a million keys blocks for some hundredths of a second when it grows. */
export class DenseMap<T> {
  readonly #pages = new Map<number, Map<number, T>>();

  get(key: number): T | undefined {
    return this.#pages.get(Math.floor(key / PAGE))?.get(key);
  }

  set(key: number, value: T): void {
    const number = Math.floor(key / PAGE);
    let page = this.#pages.get(number);
    if (page === undefined) {
      page = new Map();
      this.#pages.set(number, page);
    }
    page.set(key, value);
  }
}

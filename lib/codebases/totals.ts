import type { BigIntStats } from 'node:fs';

/** Regular files and symlinks, each with its own size, and their directories. */
export interface Contents {
  files: number;
  bytes: number;
  directories: number;
}

/**
 * The totals of a codebase, updated with each change. Changes and calls of `count` must not overlap. What is added to the
 * files by hand makes them wrong until the next count, but never negative.
 */
export class Totals {
  #known: Contents | undefined;
  #exact = true;
  #isWrong = false;
  #last: Readonly<Contents> | undefined;
  #wasCounted = false;

  /** `isExact`: nothing has changed since `kept`. */
  constructor(kept?: Readonly<Contents>, isExact = false) {
    if (kept !== undefined && isExact) this.set(kept);
    else this.#last = kept;
  }

  /** The present totals, if known, without counting. */
  get known(): Readonly<Contents> | undefined {
    return this.#known;
  }

  /** Those that were known last; undefined: they were never counted. */
  get last(): Readonly<Contents> | undefined {
    return this.#known ?? this.#last;
  }

  /** Whether `last` has all changes through the service. */
  get isCurrent(): boolean {
    return this.#known !== undefined && !this.#isWrong;
  }

  /** The bytes of `last`; undefined: nothing was known exactly since the start. */
  get lastBytes(): number | undefined {
    return this.#wasCounted ? this.last?.bytes : undefined;
  }

  /** Whether `known` includes no numbers of commits. */
  get exact(): boolean {
    return this.#exact;
  }

  /** Whether `known` must be wrong. */
  get isWrong(): boolean {
    return this.#isWrong;
  }

  set({ files, bytes, directories }: Readonly<Contents>): void {
    this.#known = { files, bytes, directories };
    this.#exact = true;
    this.#isWrong = false;
    this.#wasCounted = true;
  }

  /** Call if the effect of a change is unknown. */
  forget(): void {
    this.#last = this.last;
    this.#known = undefined;
  }

  /** A file replaces another one; undefined: none. */
  replace(before: BigIntStats | undefined, after: BigIntStats | undefined): void {
    const growth = { files: 0, bytes: 0, directories: 0 };
    if (before !== undefined) addEntry(growth, before, -1);
    if (after !== undefined) addEntry(growth, after, 1);
    this.add(growth);
  }

  /** Number of directories created or, if negative, removed. */
  addDirectories(count: number): void {
    this.add({ files: 0, bytes: 0, directories: count });
  }

  /** `isExact`: false for what a commit had planned. */
  add({ files, bytes, directories }: Readonly<Contents>, isExact = true): void {
    const known = this.#known;
    if (known === undefined) return;
    const sums = [known.files + files, known.bytes + bytes, known.directories + directories] as const;
    const [f, b, d] = sums;
    this.#known = { files: Math.max(0, f), bytes: Math.max(0, b), directories: Math.max(0, d) };
    if (Math.min(...sums) < 0) this.#isWrong = true;
    if (!isExact || this.#isWrong) this.#exact = false;
  }
}

/** Counts an entry, or with -1 its removal. */
export function addEntry(totals: Contents, stats: BigIntStats, sign: 1 | -1): void {
  if (stats.isDirectory()) totals.directories += sign;
  if (!stats.isFile() && !stats.isSymbolicLink()) return;
  totals.files += sign;
  totals.bytes += sign * Number(stats.size);
}

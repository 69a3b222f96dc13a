import type { BigIntStats } from 'node:fs';
import { walkTree } from './walk-tree.ts';

/** Limit of names held, about a hundred megabytes; only directories with more files are read more than once. */
const HELD = 250_000;

/** Regular files and symlinks, each with its own size, and their directories. */
export interface Contents {
  files: number;
  bytes: number;
  directories: number;
}

/**
 * The totals of a codebase. They are not stored, so a crash cannot make them wrong: they are counted on demand and
 * updated with each change. After a commit they are based on the commit's own numbers; `count` then counts again.
 * Changes and counting must not overlap.
 */
export class Totals {
  #known: Contents | undefined;
  #exact = true;
  #lastBytes: number | undefined;

  /** The present totals, if known, without counting. */
  get known(): Readonly<Contents> | undefined {
    return this.#known;
  }

  /** The bytes that were known last; undefined: they were never counted. */
  get lastBytes(): number | undefined {
    return this.#known?.bytes ?? this.#lastBytes;
  }

  /** Whether `known` includes no numbers of commits. */
  get exact(): boolean {
    return this.#exact;
  }

  /** The contents of the tree at `root`, by a walk if they are not known exactly. */
  async count(root: string): Promise<Readonly<Contents>> {
    if (this.#known === undefined || !this.#exact) {
      const counted = { files: 0, bytes: 0, directories: 0 };
      for await (const { stats } of walkTree(root, { names: [], recursive: true, hold: HELD })) add(counted, stats, 1);
      this.#known = counted;
      this.#exact = true;
    }
    return this.#known;
  }

  /** Call if the effect of a change is unknown. */
  forget(): void {
    this.#lastBytes = this.lastBytes;
    this.#known = undefined;
  }

  /** A file replaces another one; undefined: none. */
  replace(before: BigIntStats | undefined, after: BigIntStats | undefined): void {
    if (this.#known === undefined) return;
    if (before !== undefined) add(this.#known, before, -1);
    if (after !== undefined) add(this.#known, after, 1);
  }

  /** Number of directories created or, if negative, removed. */
  addDirectories(count: number): void {
    if (this.#known !== undefined) this.#known.directories += count;
  }

  /** Adds exact numbers, of entries that nothing else counts. */
  add({ files, bytes, directories }: Readonly<Contents>): void {
    if (this.#known === undefined) return;
    this.#known.files += files;
    this.#known.bytes += bytes;
    this.#known.directories += directories;
  }

  /** Adds the numbers of a commit. */
  committed({ files, bytes, directories }: Readonly<Contents>): void {
    if (this.#known === undefined) return;
    this.add({ files, bytes, directories });
    this.#exact = false;
  }
}

function add(totals: Contents, stats: BigIntStats, sign: 1 | -1): void {
  if (stats.isDirectory()) totals.directories += sign;
  if (!stats.isFile() && !stats.isSymbolicLink()) return;
  totals.files += sign;
  totals.bytes += sign * Number(stats.size);
}

import type { BigIntStats } from 'node:fs';
import { walkTree } from './walk-tree.ts';

/** A hundred megabytes at most; only directories with more files are read more than once. */
const HELD = 250_000;

/** Regular files and symlinks, each with its own size, and the directories they are in. */
export interface Contents {
  files: number;
  bytes: number;
  directories: number;
}

/**
 * What a codebase holds. Never stored, so no crash can make it wrong: counted at the first need, then kept up with each
 * change. After a commit it is what the commit said; `count` then counts again. Changes and counting must not overlap.
 */
export class Totals {
  #known: Contents | undefined;
  #exact = true;

  /** Without counting: what is known, if anything is. */
  get known(): Readonly<Contents> | undefined {
    return this.#known;
  }

  /** `known` is not only what commits said. */
  get exact(): boolean {
    return this.#exact;
  }

  async count(root: string): Promise<Readonly<Contents>> {
    if (this.#known === undefined || !this.#exact) {
      const counted = { files: 0, bytes: 0, directories: 0 };
      for await (const { stats } of walkTree(root, { names: [], recursive: true, hold: HELD })) add(counted, stats, 1);
      this.#known = counted;
      this.#exact = true;
    }
    return this.#known;
  }

  /** What was done is not known. */
  forget(): void {
    this.#known = undefined;
  }

  /** One file takes the place of another; undefined: there is none. */
  replace(before: BigIntStats | undefined, after: BigIntStats | undefined): void {
    if (this.#known === undefined) return;
    if (before !== undefined) add(this.#known, before, -1);
    if (after !== undefined) add(this.#known, after, 1);
  }

  /** So many directories were made, or with a negative number removed. */
  addDirectories(count: number): void {
    if (this.#known !== undefined) this.#known.directories += count;
  }

  /** A commit was made that said so of itself. */
  committed({ files, bytes, directories }: Readonly<Contents>): void {
    if (this.#known === undefined) return;
    this.#known.files += files;
    this.#known.bytes += bytes;
    this.#known.directories += directories;
    this.#exact = false;
  }
}

function add(totals: Contents, stats: BigIntStats, sign: 1 | -1): void {
  if (stats.isDirectory()) totals.directories += sign;
  if (!stats.isFile() && !stats.isSymbolicLink()) return;
  totals.files += sign;
  totals.bytes += sign * Number(stats.size);
}

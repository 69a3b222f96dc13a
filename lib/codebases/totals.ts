import type { BigIntStats } from 'node:fs';
import { walkTree } from './walk-tree.ts';

/** A hundred megabytes at most; only directories with more files are read more than once. */
const HELD = 250_000;

/**
 * file_count and total_size of a codebase: regular files and symlinks, each with its own size. Never stored, so no crash
 * can make them wrong: counted at the first need, then kept up with each change. Changes and `count` must not overlap.
 */
export class Totals {
  #known: { files: number; bytes: number } | undefined;

  async count(root: string): Promise<{ files: number; bytes: number }> {
    if (this.#known === undefined) {
      const counted = { files: 0, bytes: 0 };
      for await (const { stats } of walkTree(root, { names: [], recursive: true, hold: HELD })) add(counted, stats, 1);
      this.#known = counted;
    }
    return this.#known;
  }

  /** Much changes at once: it is counted anew. */
  forget(): void {
    this.#known = undefined;
  }

  /** One file takes the place of another; undefined: there is none. */
  replace(before: BigIntStats | undefined, after: BigIntStats | undefined): void {
    if (this.#known === undefined) return;
    if (before !== undefined) add(this.#known, before, -1);
    if (after !== undefined) add(this.#known, after, 1);
  }
}

function add(totals: { files: number; bytes: number }, stats: BigIntStats, sign: 1 | -1): void {
  if (!stats.isFile() && !stats.isSymbolicLink()) return;
  totals.files += sign;
  totals.bytes += sign * Number(stats.size);
}

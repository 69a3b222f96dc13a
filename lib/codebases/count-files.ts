import { setTimeout as delay } from 'node:timers/promises';
import { addEntry, type Contents } from './totals.ts';
import { walkTree } from './walk-tree.ts';

/** Limit of names held, about a hundred megabytes; only directories with more files are read more than once. */
const HELD = 250_000;

/** Entries between two pauses of a count in the background, and how much longer than their count a pause is. */
const SLICE = 200;
const REST = 4;
const MAX_REST_MS = 1000;

/** A count that nobody waits for. */
export interface Background {
  /** Whether to give up. */
  isInterrupted: () => boolean;
  /** Uses a fifth of the time, and pauses in the rest. */
  isPaced: boolean;
}

/** The contents of the tree at `root`. undefined: the count was interrupted. */
export async function countFiles(root: string): Promise<Contents>;
export async function countFiles(root: string, background: Background): Promise<Contents | undefined>;
export async function countFiles(root: string, background?: Background): Promise<Contents | undefined> {
  const counted = { files: 0, bytes: 0, directories: 0 };
  let [entries, began] = [0, performance.now()];
  for await (const { stats } of walkTree(root, { names: [], recursive: true, hold: HELD })) {
    addEntry(counted, stats, 1);
    if (background === undefined) continue;
    if (background.isInterrupted()) return undefined;
    if (!background.isPaced || ++entries % SLICE > 0) continue;
    await rest(began);
    began = performance.now();
  }
  return background?.isInterrupted() ? undefined : counted;
}

/** Pauses after work in the background. `began`: the time at its beginning. */
export function rest(began: number): Promise<void> {
  return delay(Math.min(MAX_REST_MS, REST * (performance.now() - began)), undefined, { ref: false });
}

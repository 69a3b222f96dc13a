import type { CleanupStack } from '../cleanup-stack.ts';
import type { ThreadEntry } from '../threads/thread-entry.ts';
import { type SharedThreads, ThreadPool } from '../threads/thread-pool.ts';
import type { TextTools } from './text-tools.ts';

/** Threads at once: one owner may use two of them. Their work takes CPU time only, of which a machine has little. */
const MOST = 4;

/** The same, for the diffs of exports: one owner may use one of them. */
const MOST_DIFFS = 2;

/** Started when they are needed first. `diffs`: apart, so that an export does not wait for its owner's searches. */
export function textToolThreads(entry: ThreadEntry, cleanup: CleanupStack) {
  const pool = (most: number): SharedThreads<TextTools> => {
    const threads = new ThreadPool<TextTools>(entry, 'text-tools', { most });
    cleanup.add('text tools', () => threads.close());
    return threads;
  };
  return { textTools: pool(MOST), diffs: pool(MOST_DIFFS) };
}

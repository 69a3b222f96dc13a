import type { CleanupStack } from '../cleanup-stack.ts';
import type { ThreadEntry } from '../threads/thread-entry.ts';
import { type SharedThreads, ThreadPool } from '../threads/thread-pool.ts';
import type { TextTools } from './text-tools.ts';

/** Threads at once: one owner may use two of them. Their work takes CPU time only, of which a machine has little. */
const MOST = 4;

/** Started when they are needed first. */
export function textToolThreads(entry: ThreadEntry, cleanup: CleanupStack): SharedThreads<TextTools> {
  const pool = new ThreadPool<TextTools>(entry, 'text-tools', { most: MOST });
  cleanup.add('text tools', () => pool.close());
  return pool;
}

import { ServiceError } from '../errors.ts';
import type { Differ } from '../patch/patch.ts';
import type { Threads } from '../threads/thread-pool.ts';
import { withThread } from '../threads/with-thread.ts';
import { diffOf } from './diff.ts';
import type { TextTools } from './text-tools.ts';

/** Bytes of two texts whose comparison takes less than the way to another thread and back. */
const SHORT = 16_384;
const MAX_MS = 60_000;

/** Compares long texts in other threads, which end with the signal. */
export function threadedDiffer(threads: Threads<TextTools>, signal: AbortSignal): Differ {
  const late = () => new ServiceError('DEADLINE_EXCEEDED', `a diff took more than ${MAX_MS / 1000} s`);
  const limits = { signal, most: MAX_MS, late };
  return async (before, after) =>
    before.length + after.length <= SHORT
      ? diffOf(before, after)
      : withThread(threads, limits, (tools) => tools.diff(before, after));
}

import type { ServiceError } from '../errors.ts';
import type { Closable, Remote, Threads } from './thread-pool.ts';

interface Limits {
  /** Ends the wait for a thread, and the thread in the middle of its work. */
  signal: AbortSignal;
  /** Milliseconds for all of the work. */
  most: number;
  /** What the caller gets after them. */
  late: () => ServiceError;
}

/** Runs `use` with a thread of its own, which ends with the signal. Rejects with the signal's reason. */
export async function withThread<T extends Closable, R>(
  threads: Threads<T>,
  { signal, most, late }: Limits,
  use: (remote: Remote<T>) => Promise<R>,
): Promise<R> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(late()), most);
  const either = AbortSignal.any([signal, over.signal]);
  try {
    const held = await threads.take(either);
    let released: Promise<void> | undefined;
    const release = () => {
      released ??= held.release();
    };
    either.addEventListener('abort', release, { once: true });
    try {
      either.throwIfAborted();
      return await use(held.remote);
    } finally {
      either.removeEventListener('abort', release);
      release();
      await released;
    }
  } catch (error) {
    throw either.aborted ? either.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

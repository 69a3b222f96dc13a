import type { ByteString } from '../byte-string.ts';

/** Notified before and after every visible change. Paths are bytes, relative to the codebase root. */
export interface BaseObserver {
  /** Before the change. Readers with an open file keep its old content. */
  baseChanging(codebaseId: string, paths: readonly ByteString[]): Promise<void>;
  /** After the change, also if it failed. */
  baseChanged(codebaseId: string, paths: readonly ByteString[]): Promise<void>;
  /**
   * Before `baseChanging`, with the paths that will be removed: an observer that shows them elsewhere must copy them.
   */
  baseRemoving(codebaseId: string, paths: readonly ByteString[]): Promise<void>;
}

/**
 * Runs `change`, which must change no path except `paths` and remove none except `removed`, with the observer notified
 * before and after it.
 */
export type ObserveChange = (
  paths: readonly ByteString[],
  change: () => Promise<void>,
  removed?: readonly ByteString[],
) => Promise<void>;

export function observeBy(watcher: BaseObserver, codebaseId: string): ObserveChange {
  return async (paths, change, removed = []) => {
    if (removed.length > 0) await watcher.baseRemoving(codebaseId, removed);
    try {
      await watcher.baseChanging(codebaseId, paths);
      await change();
    } finally {
      await watcher.baseChanged(codebaseId, paths);
    }
  };
}

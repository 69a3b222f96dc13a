import type { ByteString } from '../byte-string.ts';

/** Told of every change that can be seen, before and after it; paths are bytes, from the codebase root. */
export interface BaseWatcher {
  /** Readers that have a file open keep its old content. */
  baseChanging(codebaseId: string, paths: readonly ByteString[]): Promise<void>;
  /** Also after a change that failed. */
  baseChanged(codebaseId: string, paths: readonly ByteString[]): Promise<void>;
  /** Before `baseChanging`: these are about to go. Whoever shows them elsewhere keeps them. */
  baseRemoving(codebaseId: string, paths: readonly ByteString[]): Promise<void>;
}

/** Makes `change`, which touches no path but `paths` and removes no other than `removed`, with the watcher told around it. */
export type Announce = (
  paths: readonly ByteString[],
  change: () => Promise<void>,
  removed?: readonly ByteString[],
) => Promise<void>;

export function announceTo(watcher: BaseWatcher, codebaseId: string): Announce {
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

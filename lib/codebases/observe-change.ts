import type { ByteString } from '../byte-string.ts';

/** A commit before it is made. */
interface ComingCommit {
  /** The sandbox. */
  id: string;
  /** Paths that it adds, or at which a directory and something else replace each other. */
  added: readonly ByteString[];
}

/** What is known of a change before it is made. */
export interface ComingChange {
  /** Paths that are removed, or that may be. */
  removed: readonly ByteString[];
  /** The commit of a sandbox. */
  commit?: ComingCommit | undefined;
  /** What may wait for the programs of other sandboxes was done before. */
  othersPrepared?: boolean;
}

/** Notified before and after every visible change. Paths are bytes, relative to the codebase root. */
export interface BaseObserver {
  /** Before the change. Readers with an open file keep its old content. */
  baseChanging(codebaseId: string, paths: readonly ByteString[], change: ComingChange): Promise<void>;
  /** After the change, also if it failed. */
  baseChanged(codebaseId: string, paths: readonly ByteString[]): Promise<void>;
  /**
   * Before `baseChanging`, with the paths that will be removed: an observer that shows them elsewhere must copy them.
   */
  baseRemoving(codebaseId: string, paths: readonly ByteString[]): Promise<void>;
}

/** Runs `change`, which must change no path except `paths`, with the observer notified before and after it. */
export type ObserveChange = (
  paths: readonly ByteString[],
  change: () => Promise<void>,
  /** `removalsObserved`: the caller has called `baseRemoving` already. `failed`: called before `baseChanged` if it failed. */
  coming?: ComingChange & { removalsObserved?: boolean; failed?: (() => Promise<void>) | undefined },
) => Promise<void>;

/**
 * The function that a change of a codebase runs in: notifies the watcher before files are removed or replaced, and
 * afterwards even if the change failed. Errors of the watcher and of the change are thrown.
 */
export function observeBy(watcher: BaseObserver, codebaseId: string): ObserveChange {
  return async (paths, change, { removalsObserved, failed, ...coming } = { removed: [] }) => {
    if (coming.removed.length > 0 && !removalsObserved) await watcher.baseRemoving(codebaseId, coming.removed);
    try {
      await watcher.baseChanging(codebaseId, paths, coming);
      await change();
    } catch (error) {
      await failed?.();
      throw error;
    } finally {
      await watcher.baseChanged(codebaseId, paths);
    }
  };
}

import type { SyncStep } from './sync-steps.ts';

/** A part of the state that is in the page cache until a sync. One sync of it runs at a time. */
export interface Unsynced {
  /** A sync begins: what makes all durable that is there now. Throws host errors. */
  steps(): SyncStep[];
  /** Must not throw. */
  synced(): void;
  /**
   * After a failed sync the system takes the pages for clean: what they had must be written again before the next one. Must
   * not throw.
   */
  syncFailed(): void;
}

/** What is done when all parts before it are durable. `begin` is called when the sync begins. */
export function afterwards<T>(begin: () => T, done: (begun: T) => void): Unsynced {
  let begun: T;
  return {
    steps() {
      begun = begin();
      return [];
    },
    synced: () => done(begun),
    syncFailed: () => {},
  };
}

import { Ending } from './ending.ts';
import type { Sync } from './sync-steps.ts';
import type { Unsynced } from './unsynced.ts';

/** The syncs of one workspace, one after the other: what one covers is decided when it begins. */
export class SyncTurns {
  readonly #sync: Sync;
  #last = new Ending((ended) => ended());

  /** `sync` does the steps in another thread. */
  constructor(sync: Sync) {
    this.#sync = sync;
  }

  /** Makes the parts durable in this order. Rejects if any of them may not be durable. */
  run(parts: readonly Unsynced[]): Ending {
    const turn = this.#last.then(() => this.#run(parts));
    this.#last = turn.catch(() => {});
    return turn;
  }

  #run(parts: readonly Unsynced[]): Ending {
    return new Ending((begun) => begun(this.#sync(parts.flatMap((part) => part.steps())))).then(
      () => {
        for (const part of parts) part.synced();
      },
      (error) => {
        for (const part of parts) part.syncFailed();
        throw error;
      },
    );
  }
}

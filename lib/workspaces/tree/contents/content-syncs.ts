import { Errno, errnoOf, hostErrno } from '../../../linux/errno.ts';
import type { OwnSyncs } from '../../delta/contents/host-syncs.ts';
import type { Ending } from '../disk/ending.ts';
import type { Unsynced } from '../disk/unsynced.ts';
import type { UnsyncedContents } from './unsynced-contents.ts';

export interface SyncsIn {
  readonly syncs: OwnSyncs;
  readonly unsynced: UnsyncedContents;
  /** See `TreeStore.sync`. */
  readonly journal: { sync(contents: Unsynced): Ending };
  /** Called when requests that wait for this cause are to be answered. */
  readonly answer: (cause: number, error: Errno | undefined) => void;
}

interface Batch {
  readonly numbers: Set<number>;
  cause: number | undefined;
}

/** FSYNC requests of one tree: those that come while a sync waits for its turn are part of it. */
export class ContentSyncs {
  readonly #in: SyncsIn;
  /** The batch that has not begun. */
  #next: Batch | undefined;

  constructor(where: SyncsIn) {
    this.#in = where;
  }

  /** See `TreeFileContents.sync`; `number`: of the data file. */
  add(number: number | undefined): number | undefined {
    const known = this.#next;
    if (known !== undefined) {
      if (number !== undefined) known.numbers.add(number);
      return known.cause;
    }
    return this.#begin(new Set(number === undefined ? [] : [number]));
  }

  /** All records so far become durable, for what waits for them. A failure is that of nobody. */
  freeSlots(): void {
    if (this.#next === undefined) this.#run({ numbers: new Set(), cause: undefined });
  }

  #begin(numbers: Set<number>): number | undefined {
    const { syncs, answer } = this.#in;
    const batch: Batch = { numbers, cause: undefined };
    const ending = this.#run(batch);
    let ended: { readonly error: unknown } | undefined;
    let cause: number | undefined;
    const end = (error: unknown) => {
      if (cause === undefined) ended = { error };
      else answer(cause, error === undefined ? undefined : new Errno(errnoOf(error)));
    };
    ending.then(() => end(undefined), end);
    if (ended === undefined) {
      cause = syncs.newCause();
      batch.cause = cause;
      return cause;
    }
    if (ended.error !== undefined) throw hostErrno(ended.error);
    return undefined;
  }

  #run(batch: Batch): Ending {
    const part = this.#in.unsynced.only(batch.numbers);
    this.#next = batch;
    const steps = () => {
      if (this.#next === batch) this.#next = undefined;
      return part.steps();
    };
    return this.#in.journal.sync({ ...part, steps });
  }
}

import { ServiceError } from '../../../errors.ts';
import type { Sink } from '../../../trees/directory/source.ts';
import type { Journals } from '../journal/journals.ts';
import { Ending } from './ending.ts';
import type { NewNames } from './new-names.ts';
import type { RootFile } from './root-file.ts';
import { encodeSlot } from './root-slot.ts';
import type { SegmentWriter } from './segment-writer.ts';
import type { SyncTurns } from './sync-turns.ts';
import type { TreeRoot, TreeState } from './tree-root.ts';
import { afterwards, type Unsynced } from './unsynced.ts';

export interface Parts {
  /** Of files: slots and data files. */
  readonly contents: Unsynced;
  readonly segments: SegmentWriter;
  /** Of trees that are made beside the requests. */
  readonly results: SegmentWriter;
  readonly journals: Journals;
  readonly root: RootFile;
  readonly names: NewNames;
  readonly turns: SyncTurns;
}

/** Where a freeze puts directories, and the maps of slabs. */
export type FreezeSink = Sink & Pick<SegmentWriter, 'putBytes'>;

export interface Freezing {
  readonly root: TreeRoot;
  /** F4 is done: what only the root before it needed is free. UNAVAILABLE: the root before it stays. May be ignored. */
  readonly durable: Ending;
}

/**
 * The order of a freeze. Until F3 is done, the root of before with all journals says the same as the new root with the last
 * journal: so a crash at any step leaves the same state, and so does a failure.
 */
export class Freezes {
  readonly #parts: Parts;
  #isRunning = false;
  #last = new Ending<void>((ended) => ended());
  /** Number of the journal that the last freeze has begun. */
  #begun = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The next freeze waits for the end of this one. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** The end of the last one. */
  get last(): Ending {
    return this.#last;
  }

  /** The root of the last freeze is not durable, because that has not ended or has failed. */
  get isAhead(): boolean {
    return this.#parts.root.root.generation < this.#begun;
  }

  /**
   * F1, between two requests: objects, then the next journal, all in the page cache. `encode` puts all objects, then calls
   * `begin`, then goes on from what it froze, which cannot fail. If `begin` or this throws, nothing has begun: as on a full
   * disk, where freezes wait.
   */
  begin(encode: (sink: FreezeSink, begin: (state: TreeState) => void) => void): Freezing {
    if (this.#isRunning) throw new Error('a freeze waits for the one before it');
    const { segments, journals, root: file } = this.#parts;
    const root = segments.whole(() => {
      let begun: TreeRoot | undefined;
      encode(segments, (state) => {
        const next = { ...file.root, ...state, ...segments.last };
        // One that is too large is refused here.
        encodeSlot(next, false);
        begun = { ...next, ...journals.begin() };
      });
      if (begun === undefined) throw new Error('a freeze that has not begun');
      return begun;
    });
    this.#isRunning = true;
    this.#begun = root.generation;
    this.#last = this.#finish(root);
    return { root, durable: this.#last };
  }

  #finish(root: TreeRoot): Ending {
    return this.#durably(root)
      .catch(() => this.#durably(root))
      .then(
        () => {
          this.#isRunning = false;
        },
        (cause) => {
          this.#isRunning = false;
          throw new ServiceError('UNAVAILABLE', 'the disk did not take the files of the sandbox', [], { cause });
        },
      );
  }

  #durably(root: TreeRoot): Ending {
    const { contents, segments, names, root: file, turns } = this.#parts;
    const f2 = [contents, segments, file, names];
    const f3 = file.replacing(root);
    const f4 = afterwards(
      () => undefined,
      () => this.#free(root.generation),
    );
    return turns.run([...f2, f3, f4]);
  }

  #free(generation: number): void {
    this.#parts.root.markSynced({ generation, end: 0 });
    this.#parts.journals.freeBefore(generation);
  }
}

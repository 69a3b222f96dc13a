import type { Sink } from '../../../trees/directory/source.ts';
import type { Named } from '../journal/named.ts';
import type { Journal, JournalRecord } from '../journal/records.ts';
import type { Ending } from './ending.ts';
import { type FreezeSink, Freezes, type Freezing, type Parts } from './freezes.ts';
import type { Mark } from './mark.ts';
import type { TreeRoot, TreeState } from './tree-root.ts';
import { afterwards } from './unsynced.ts';

/**
 * The files of one workspace: its root, the journals since, and its objects. All calls are those of one thread, and but for
 * syncs they end in the page cache: the end of the process loses nothing, a loss of power what was not synced. The owner calls
 * `close`.
 */
export class TreeStore implements Journal {
  readonly #parts: Parts;
  readonly #freezes: Freezes;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#freezes = new Freezes(parts);
  }

  /** The last durable one, or that from which the store was opened. */
  get root(): TreeRoot {
    return this.#parts.root.root;
  }

  /** Of the journal that is written. */
  get bytes(): number {
    return this.#parts.journals.bytes;
  }

  /** Where the next record will be. */
  get at(): Mark {
    return this.#parts.journals.at;
  }

  /**
   * What is known to be durable; undefined: nothing yet. What a record or a root before it has freed may be used again. An
   * owner that opened the store waits for this: the one before it may have ended without a sync.
   */
  get durable(): Mark | undefined {
    return this.#parts.root.mark;
  }

  get isRooted(): boolean {
    return this.isSole && !this.#freezes.isAhead;
  }

  /** No crash brings back an older root than `root`. */
  get isSole(): boolean {
    return this.#parts.root.isSole;
  }

  /** What the records since the root name. */
  get named(): Named[] {
    return this.#parts.journals.named;
  }

  /** See `Journal`. Objects and contents that the record names are there already, or will be part of each later sync. */
  append(record: JournalRecord, makesRoom: boolean): void {
    this.#parts.journals.append(record, makesRoom);
  }

  get isFreezing(): boolean {
    return this.#freezes.isRunning;
  }

  /** The end of the last freeze. */
  get lastFreeze(): Ending {
    return this.#freezes.last;
  }

  /** See `Freezes.begin`. */
  freeze(encode: (sink: FreezeSink, begin: (state: TreeState) => void) => void): Freezing {
    return this.#freezes.begin(encode);
  }

  /** Where trees are put that take the place of a frozen one. A record may name them after `syncResults`. */
  get results(): Sink {
    return this.#parts.results;
  }

  syncResults(): Ending {
    const { results, names, turns } = this.#parts;
    return turns.run([results, names]);
  }

  /**
   * Makes all present records durable, with the objects that they name, and all journals that they go on from. `contents`: those
   * to be durable with them; absent: all.
   */
  sync(contents = this.#parts.contents): Ending {
    const { segments, root, journals, names, turns } = this.#parts;
    const mark = afterwards(
      () => journals.at,
      (at) => root.markSynced(at),
    );
    return turns.run([contents, segments, root, journals, names, mark]);
  }

  /** Without a sync. Not while one runs. */
  close(): void {
    const { segments, results, journals, root } = this.#parts;
    segments.close();
    results.close();
    journals.close(root.root.generation);
    root.close();
  }
}

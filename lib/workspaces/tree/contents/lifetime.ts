import { fileOf, type Key, slotOf } from '../../../trees/format/keys.ts';
import type { ContentStore } from '../../delta/contents/content-store.ts';
import type { DataFiles } from '../../delta/contents/data-files.ts';
import type { FileRef } from '../../delta/contents/stored-file.ts';
import type { TopLayer } from '../../delta/contents/top-layer.ts';
import { nameOf } from './contents-reads.ts';
import type { Descriptors } from './descriptors.ts';
import { slotNumber } from './slot-places.ts';
import type { UnsyncedContents } from './unsynced-contents.ts';
import { type Durability, WaitingFrees } from './waiting-frees.ts';

/** Data files that wait to be removed, from which on a sync is made for them. */
const MAX_WAITING = 256;

export interface LifetimeIn {
  readonly top: TopLayer;
  readonly store: ContentStore;
  readonly files: DataFiles;
  readonly descriptors: Descriptors;
  readonly unsynced: UnsyncedContents;
  readonly journal: Durability;
  /** Whether the contents are the sandbox's alone. */
  readonly mayChange: (key: Key) => boolean;
}

/**
 * When the space of contents is used again. What others may have, a sweep frees. What the disk may still name is freed when the
 * records that freed it are durable; the rest at once.
 */
export class Lifetime {
  readonly #in: LifetimeIn;
  readonly #frees: WaitingFrees;

  constructor(where: LifetimeIn) {
    this.#in = where;
    this.#frees = new WaitingFrees(where.top.slabs, (file) => this.remove(file), where.journal);
  }

  /** So much waits that a sync should be made. */
  get isFull(): boolean {
    return this.#in.store.waitsForJournal || this.#frees.files > MAX_WAITING;
  }

  /** Nothing names the contents any more. */
  release(key: Key): void {
    const { mayChange, top, store, unsynced } = this.#in;
    if (!mayChange(key)) return;
    const slot = slotOf(key);
    if (slot !== undefined) {
      const number = slotNumber(slot);
      const holder = top.slabs.holder(number);
      if (holder !== undefined) store.forget(holder);
      top.slabs.release(number);
      return;
    }
    const ref = { layer: top.layer, id: fileOf(key)!.number };
    if (unsynced.released(ref)) this.remove(ref);
    else this.#frees.addFile(ref);
  }

  /** See `WaitingFrees`. */
  settle(): void {
    this.#frees.settle();
  }

  /** Removes a data file that nothing names, nor will after a loss of power. */
  remove(ref: FileRef): void {
    const { descriptors, files, unsynced } = this.#in;
    unsynced.released(ref);
    descriptors.close(nameOf(ref));
    descriptors.close(writableName(ref));
    files.remove(ref);
  }

  close(): void {
    this.#in.descriptors.closeAll(`${this.#in.top.layer}/`);
  }
}

/** Of the descriptor of a data file for writing. */
export function writableName(ref: FileRef): string {
  return `${nameOf(ref)} for writing`;
}

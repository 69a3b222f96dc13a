import { complete, type Steps } from '../../fuse/connection/steps.ts';
import type { ContentStore } from './contents/content-store.ts';
import type { DeltaIndex } from './delta-index.ts';
import { FileSyncs } from './file-syncs.ts';
import type { JournalSync } from './index/durable-journal.ts';
import type { Inode } from './index/inode.ts';
import type { LayersOf } from './layers/layers-of.ts';
import type { WrittenFiles } from './written-files.ts';

/** Makes contents and journal of one delta durable. */
export class DeltaSyncs {
  readonly #layers: LayersOf;
  readonly #index: DeltaIndex;
  readonly #contents: ContentStore;
  readonly #written: WrittenFiles;
  readonly #fileSyncs: FileSyncs;
  /** The journal is being synced because many slots wait for it. */
  #freeingSlots = false;

  constructor(layers: LayersOf, index: DeltaIndex, contents: ContentStore, written: WrittenFiles) {
    this.#layers = layers;
    this.#index = index;
    this.#contents = contents;
    this.#written = written;
    this.#fileSyncs = new FileSyncs(layers.syncs, {
      needsJournal: (inode, datasync) => this.#needsJournal(inode, datasync),
      recordTimes: (inodes) => written.record(inodes),
      openToSync: (inode, datasync) => contents.openToSync(inode, datasync),
      failed: (inode) => this.#markUnsynced(inode),
      isFree: () => this.#isFree(),
      journal: () => this.beginJournalSync(),
      answer: layers.answer,
    });
  }

  #isFree(): boolean {
    return this.#layers.isHeld?.() !== true;
  }

  /**
   * Whether a sync of the data file alone is not enough. It is for fdatasync(2), which does not promise the times, if the
   * journal is durable and has the file with contents: the present size is that of the data file.
   */
  #needsJournal(inode: Inode, datasync: boolean): boolean {
    const isRecorded = inode.hasFile && (inode.expected ?? 0) > 0;
    return !datasync || !isRecorded || !this.#index.journal.isDurable;
  }

  /**
   * Makes one file durable, with its links and times. `datasync`: fdatasync(2) in place of fsync(2) for its data file.
   * Returns the cause of the later answer; undefined: it is durable. Throws host errors.
   */
  syncFile(inode: Inode, datasync: boolean): number | undefined {
    const { syncs } = this.#layers;
    if (syncs.inBackground) return this.#fileSyncs.add(inode, datasync);
    complete(this.#syncingFile(inode, datasync));
    return undefined;
  }

  *#syncingFile(inode: Inode, datasync: boolean): Steps<void> {
    const needsJournal = this.#needsJournal(inode, datasync);
    const file = this.#contents.openToSync(inode, datasync);
    try {
      if (file !== undefined) yield* this.#layers.syncs.syncing(() => ({ files: [file] }));
    } catch (error) {
      this.#markUnsynced(inode);
      throw error;
    }
    if (!needsJournal) return;
    this.#written.record([inode]);
    yield* this.syncingJournal();
  }

  #markUnsynced(inode: Inode): void {
    if (!inode.isDirectory && this.#index.table.get(inode.id) === inode) this.#contents.markUnsynced(inode);
  }

  /**
   * Makes everything durable, in steps, between which the caller prevents other use of the delta. Throws host errors.
   */
  *syncing(): Steps<void> {
    // Each change is journaled before it is made.
    if (this.#index.journal.size === 0) return;
    yield* this.syncingContents();
    this.#written.recordAll();
    yield* this.syncingJournal();
  }

  *syncingContents(): Steps<void> {
    yield* this.#layers.syncs.syncing(() => this.#contents.unsynced());
    this.#contents.allSynced();
  }

  *syncingJournal(): Steps<void> {
    yield* this.#layers.syncs.syncing(() => this.beginJournalSync());
  }

  /** Begins a sync of the journal, whose end makes slots reusable. */
  beginJournalSync(): JournalSync {
    const { files, synced } = this.#index.journal.beginSync();
    this.#contents.journalSyncBegins();
    return {
      files,
      synced: () => {
        synced();
        this.#contents.journalSynced();
      },
    };
  }

  /** Makes slots reusable that wait for a sync of the journal. A failure is not one of the current change. */
  freeSlots(): void {
    const { syncs } = this.#layers;
    if (!syncs.inBackground) complete(this.syncingJournal());
    else if (!this.#freeingSlots) {
      this.#freeingSlots = true;
      syncs.add({
        mayBegin: () => this.#isFree(),
        open: () => this.beginJournalSync(),
        done: () => {
          this.#freeingSlots = false;
        },
      });
    }
  }
}

import { EIO, Errno, errnoOf } from '../../linux/errno.ts';
import type { SyncedFile } from './contents/background-sync.ts';
import { closeSynced, type HostSync, type OwnSyncs } from './contents/host-syncs.ts';
import type { JournalSync } from './index/durable-journal.ts';
import type { Inode } from './index/inode.ts';

/** Files of one batch, each with an open host file. */
const MAX_FILES = 16;

/** A file of a batch. */
interface Wanted {
  datasync: boolean;
  /** The cause that the requests for this file wait for. */
  cause: number;
  /** Index of its host file in the sync; undefined: it has none. */
  index?: number;
  /** Why its host file could not be opened. */
  errno?: number;
}

type Batch = Map<Inode, Wanted>;

/** What the syncs of files need of their delta. */
export interface SyncedDelta {
  /** Whether a sync of the data file alone is not enough. */
  needsJournal(inode: Inode, datasync: boolean): boolean;
  /** Journals the times of files that were written to. Throws host errors. */
  recordTimes(inodes: Iterable<Inode>): void;
  /** See `ContentStore`. */
  openToSync(inode: Inode, datasync: boolean): SyncedFile | undefined;
  /** Called if the sync of a file failed. */
  failed(inode: Inode): void;
  /** Whether no long operation runs on the delta. */
  isFree(): boolean;
  /** Begins a sync of the journal. Throws host errors. */
  journal(): JournalSync;
  /** Called when requests that wait for this cause are to be answered. */
  answer(cause: number, error: Errno | undefined): void;
}

/**
 * FSYNC requests of one delta. Files that are requested while a sync is under way make up the next batch (group commit):
 * each batch syncs its files first, and then the journal with their links and times, if one of them needs it.
 */
export class FileSyncs {
  readonly #syncs: OwnSyncs;
  readonly #delta: SyncedDelta;
  /** The batch that has not begun. */
  #next: Batch | undefined;

  constructor(syncs: OwnSyncs, delta: SyncedDelta) {
    this.#syncs = syncs;
    this.#delta = delta;
  }

  /** Adds a file to the next batch. Returns the cause with which `answer` is called. */
  add(inode: Inode, datasync: boolean): number {
    const known = this.#next?.get(inode);
    if (known !== undefined) {
      known.datasync &&= datasync;
      return known.cause;
    }
    const wanted = { datasync, cause: this.#syncs.newCause() };
    if (this.#next !== undefined && this.#next.size < MAX_FILES) this.#next.set(inode, wanted);
    else this.#begin(new Map([[inode, wanted]]));
    return wanted.cause;
  }

  #begin(batch: Batch): void {
    let journal: JournalSync | undefined;
    // Before `add`, which may begin the batch at once.
    this.#next = batch;
    this.#syncs.add({
      mayBegin: () => this.#delta.isFree(),
      open: () => {
        if (this.#next === batch) this.#next = undefined;
        // Before the times are recorded, which changes the journal.
        const needsJournal = [...batch].some(([inode, { datasync }]) => this.#delta.needsJournal(inode, datasync));
        if (needsJournal) this.#delta.recordTimes(batch.keys());
        const files = this.#open(batch);
        const answers = [...batch.values()].filter(({ errno = 0 }) => errno === 0).map(({ cause }) => cause);
        if (!needsJournal) return { files, answers };
        try {
          journal = this.#delta.journal();
        } catch (thrown) {
          closeSynced(files);
          throw thrown;
        }
        return { files: [...files, ...journal.files], answers };
      },
      done: (result) => {
        this.#done(batch, result);
        if ('errnos' in result && journalErrno(batch, result.errnos) === undefined) journal?.synced();
      },
    });
  }

  #open(batch: Batch): SyncedFile[] {
    const files: SyncedFile[] = [];
    for (const [inode, wanted] of batch) {
      try {
        const file = this.#delta.openToSync(inode, wanted.datasync);
        if (file !== undefined) wanted.index = files.push(file) - 1;
      } catch (thrown) {
        wanted.errno = errnoOf(thrown);
      }
    }
    return files;
  }

  #done(batch: Batch, result: Parameters<HostSync['done']>[0]): void {
    const errnos = 'errnos' in result ? result.errnos : [];
    const general = 'errnos' in result ? journalErrno(batch, errnos) : errnoOf(result.thrown);
    for (const [inode, { cause, index, errno: ofOpen = 0 }] of batch) {
      const errno = general ?? (index === undefined ? ofOpen : (errnos[index] ?? EIO.errno));
      if (errno !== 0) this.#delta.failed(inode);
      this.#delta.answer(cause, errno === 0 ? undefined : new Errno(errno));
    }
  }
}

/** The journal's files come after those of the batch. */
function journalErrno(batch: Batch, errnos: readonly number[]): number | undefined {
  const files = [...batch.values()].filter(({ index }) => index !== undefined).length;
  return errnos.slice(files).find((errno) => errno !== 0);
}

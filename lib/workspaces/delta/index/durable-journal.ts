import { fstatSync, ftruncateSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Steps } from '../../../fuse/connection/steps.ts';
import { closeQuietly } from '../../../linux/close.ts';
import type { SyncedFile } from '../contents/background-sync.ts';
import type { BegunSync, OwnSyncs } from '../contents/host-syncs.ts';
import { type Marked, writeMark } from './journal-mark.ts';
import type { JournalReserve } from './journal-reserve.ts';

/** Bytes of a replaced journal that are freed in one step. */
const FREED = 1 << 20;

/** A sync of a journal that has begun. */
export type JournalSync = BegunSync & Required<Pick<BegunSync, 'synced'>>;

/** What of a journal is durable, and what makes it durable. The owner calls `close`. */
export class DurableJournal {
  readonly #path: string;
  readonly #syncs: OwnSyncs;
  #nameSynced = false;
  /** The size in the last mark; of this journal, not of a replaced one. */
  #marked = 0;
  /** Size with which it replaced another journal, in bytes; 0: it did not. */
  #replacedSize = 0;
  /** The replaced journal, or -1. */
  #replacedFd = -1;

  constructor(path: string, syncs: OwnSyncs) {
    this.#path = path;
    this.#syncs = syncs;
  }

  /** Called when a journal of this size, with durable contents, has replaced another one, whose descriptor it takes over. */
  replaced(size: number, before: number): void {
    this.close();
    this.#replacedFd = before;
    this.#nameSynced = false;
    this.#marked = 0;
    this.#replacedSize = size;
  }

  /** Makes the name of the journal durable, and frees the replaced one, in steps. */
  *confirming(generation: number): Steps<void> {
    if (!this.#nameSynced) {
      // Lines that were appended since may not be durable.
      const position = { generation, size: this.#replacedSize };
      yield* this.#syncs.syncing(() => ({ files: [this.#name] }));
      this.synced(position);
    }
    // Not earlier: a power failure may restore it.
    yield* this.#freeingReplaced();
  }

  /** With the last descriptor the host frees a file at once, pages included: some milliseconds for each 10 MB. */
  *#freeingReplaced(): Steps<void> {
    const fd = this.#replacedFd;
    if (fd === -1) return;
    this.#replacedFd = -1;
    try {
      const { nlink, size } = fstatSync(fd);
      // One with a name is the index of a frozen layer.
      for (let left = nlink === 0 ? size - FREED : 0; left > 0; left -= FREED) {
        ftruncateSync(fd, left);
        yield;
      }
    } catch {
      // It is freed at once.
    } finally {
      closeQuietly(fd);
    }
  }

  /** Closes the replaced journal. */
  close(): void {
    if (this.#replacedFd !== -1) closeQuietly(this.#replacedFd);
    this.#replacedFd = -1;
  }

  /** Whether a journal of this size in bytes is durable, with its name. */
  covers(size: number): boolean {
    return this.#nameSynced && this.#marked === size;
  }

  /** Returns the files to sync for all present lines: the journal, open, its reserve and its directory. */
  files({ toSync }: JournalReserve): SyncedFile[] {
    // Not by its path later, where a replacement may be then.
    const files: SyncedFile[] = [{ file: openSync(this.#path, 'r'), datasync: false }];
    if (toSync !== undefined) files.push({ file: toSync, datasync: false });
    if (!this.#nameSynced) files.push(this.#name);
    return files;
  }

  /** Called when lines up to a position are durable, with the name of the file: records that in the mark. */
  synced(position: Marked): void {
    this.#nameSynced = true;
    if (position.size <= this.#marked) return;
    writeMark(this.#path, position);
    this.#marked = position.size;
  }

  get #name(): SyncedFile {
    return { file: dirname(this.#path), datasync: false };
  }
}

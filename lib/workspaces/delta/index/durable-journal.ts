import { openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Steps } from '../../../fuse/connection/steps.ts';
import type { SyncedFile } from '../contents/background-sync.ts';
import type { BegunSync, OwnSyncs } from '../contents/host-syncs.ts';
import { type Marked, writeMark } from './journal-mark.ts';
import type { JournalReserve } from './journal-reserve.ts';

/** A sync of a journal that has begun. */
export type JournalSync = BegunSync & Required<Pick<BegunSync, 'synced'>>;

/** What of a journal is durable, and what makes it durable. */
export class DurableJournal {
  readonly #path: string;
  readonly #syncs: OwnSyncs;
  #nameSynced = false;
  /** The size in the last mark; of this journal, not of a replaced one. */
  #marked = 0;
  /** Size with which it replaced another journal, in bytes; 0: it did not. */
  #replacedSize = 0;

  constructor(path: string, syncs: OwnSyncs) {
    this.#path = path;
    this.#syncs = syncs;
  }

  /** Called when a journal of this size, with durable contents, has replaced another one. */
  replaced(size: number): void {
    this.#nameSynced = false;
    this.#marked = 0;
    this.#replacedSize = size;
  }

  /** Makes the name of the journal durable, in steps. */
  *confirming(generation: number): Steps<void> {
    if (this.#nameSynced) return;
    // Lines that were appended since may not be durable.
    const position = { generation, size: this.#replacedSize };
    yield* this.#syncs.syncing(() => ({ files: [this.#name] }));
    this.synced(position);
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

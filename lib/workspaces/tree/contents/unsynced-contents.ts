import { dirname } from 'node:path';
import type { Disk } from '../../../disk/disk.ts';
import { EIO, ENOENT, Errno } from '../../../linux/errno.ts';
import type { ContentStore } from '../../delta/contents/content-store.ts';
import type { DataFiles } from '../../delta/contents/data-files.ts';
import type { FileRef } from '../../delta/contents/stored-file.ts';
import type { TopLayer } from '../../delta/contents/top-layer.ts';
import type { SyncStep } from '../disk/sync-steps.ts';
import type { Unsynced } from '../disk/unsynced.ts';

/** A data file of which a sync failed is written again if it is not larger. A larger one makes each sync fail. */
const REWRITTEN = 16 << 20;

export interface UnsyncedIn {
  readonly disk: Disk;
  readonly top: TopLayer;
  readonly store: ContentStore;
  readonly files: DataFiles;
}

/** The contents of a tree that may not be durable: all slabs together, and data files one by one. */
export class UnsyncedContents implements Unsynced {
  /** Data files that no journal on the disk can name: no sync has begun since they were made. */
  readonly #young = new Set<number>();
  readonly #in: UnsyncedIn;
  /** Data files that were written, by number. */
  #dirty = new Map<number, FileRef>();
  /** Folders with new names. */
  #folders = new Set<string>();
  #covered: { files: FileRef[]; folders: Set<string>; fds: number[] } = { files: [], folders: new Set(), fds: [] };
  readonly #failed = new Set<number>();
  #slabsFailed = false;
  /** Slabs that are known to have names. */
  #slabs = 0;

  constructor(where: UnsyncedIn) {
    this.#in = where;
  }

  /** A data file has got its name. */
  made(ref: FileRef): void {
    const { root, path } = this.#in.files.hostFile(ref);
    this.#young.add(ref.id);
    this.#named(`${root}/${path}`);
  }

  /** From now on a journal or a root on the disk may name all contents: a sync begins, or a freeze that is synced later. */
  mayBeNamed(): void {
    this.#young.clear();
    this.#in.top.slabs.syncBegins();
  }

  /** A data file is not needed any more. Returns whether no journal on the disk can name it. */
  released({ id }: FileRef): boolean {
    this.#dirty.delete(id);
    this.#failed.delete(id);
    return this.#young.delete(id);
  }

  /** The slabs, and of data files only these. For fsync(2). */
  only(numbers: ReadonlySet<number>): Unsynced {
    return {
      steps: () => this.#begin((ref) => numbers.has(ref.id)),
      synced: () => this.synced(),
      syncFailed: () => this.syncFailed(),
    };
  }

  steps(): SyncStep[] {
    return this.#begin(() => true);
  }

  synced(): void {
    for (const { id } of this.#covered.files) this.#failed.delete(id);
    this.#end();
  }

  syncFailed(): void {
    const { files, folders } = this.#covered;
    for (const file of files) {
      this.#dirty.set(file.id, file);
      this.#failed.add(file.id);
    }
    for (const folder of folders) this.#folders.add(folder);
    this.#slabsFailed = true;
    this.#end();
  }

  #begin(isWanted: (file: FileRef) => boolean): SyncStep[] {
    const { store, top } = this.#in;
    for (const file of store.unsyncedFiles) this.#dirty.set(file.id, file);
    store.allSynced();
    this.mayBeNamed();
    const { fds: slabs } = top.slabs;
    // Also those that the server before has made.
    if (slabs.length > this.#slabs) this.#named(`${top.root}/${top.layer}/slab`);
    this.#slabs = slabs.length;
    const files = [...this.#dirty.values()].filter(isWanted);
    const covered = { files, folders: this.#folders, fds: [] as number[] };
    this.#covered = covered;
    this.#folders = new Set();
    for (const file of files) this.#dirty.delete(file.id);
    if (this.#slabsFailed) top.slabs.rewrite();
    this.#slabsFailed = false;
    for (const file of files) this.#open(file);
    const fds = [...slabs, ...covered.fds];
    return [...fds.map((datasync) => ({ datasync })), ...[...covered.folders].map((folder) => ({ folder }))];
  }

  /** Folders may be new, too. */
  #named(path: string): void {
    const { root } = this.#in.top;
    for (let folder = dirname(path); folder.startsWith(root); folder = dirname(folder)) this.#folders.add(folder);
  }

  #open(ref: FileRef): void {
    const { files } = this.#in;
    try {
      this.#covered.fds.push(files.open(ref, false));
    } catch (error) {
      if (error instanceof Errno && error.errno === ENOENT.errno) return;
      throw error;
    }
    if (this.#failed.has(ref.id)) this.#rewrite(this.#covered.fds.at(-1)!);
  }

  #rewrite(fd: number): void {
    const { disk } = this.#in;
    if (disk.size(fd) > REWRITTEN) throw EIO;
    const bytes = Buffer.allocUnsafe(disk.size(fd));
    disk.pwrite(fd, bytes.subarray(0, disk.pread(fd, bytes, 0)), 0);
  }

  #end(): void {
    for (const fd of this.#covered.fds) this.#in.disk.close(fd);
    this.#covered = { files: [], folders: new Set(), fds: [] };
  }
}

import type { Disk } from '../../../../lib/disk/disk.ts';
import type { FrozenContents } from '../../../../lib/sandboxes/tree/parts.ts';
import { MAX_PACKED } from '../../../../lib/store/limits.ts';
import type { Entry } from '../../../../lib/trees/format/entry.ts';
import { fileKey, fileOf, type Key } from '../../../../lib/trees/format/keys.ts';
import type { SyncStep } from '../../../../lib/workspaces/tree/disk/sync-steps.ts';
import type { Unsynced } from '../../../../lib/workspaces/tree/disk/unsynced.ts';

/** Contents of the files of one sandbox: a data file for each, which is written once. */
export class StoredContents implements FrozenContents, Unsynced {
  readonly #disk: Disk;
  readonly #store: bigint;
  readonly #unsynced: number[] = [];
  #covered = 0;
  /** Of the next one. */
  number: number;

  constructor(disk: Disk, store: bigint, number: number) {
    this.#disk = disk;
    this.#store = store;
    this.number = number;
  }

  put(bytes: Buffer): Pick<Entry, 'key' | 'size'> {
    // A server before may have left some that nothing names.
    const there = new Set(this.#disk.readdir(folderOf(this.#store)));
    while (there.has(nameOf(this.number))) this.number++;
    const number = this.number++;
    const fd = this.#disk.open(pathOf(this.#store, number), 'create');
    this.#disk.pwrite(fd, bytes, 0);
    this.#unsynced.push(fd);
    return { key: fileKey({ store: this.#store, number, birth: 1, version: 0 }), size: bytes.length };
  }

  read(entry: Entry, offset: number, into: Buffer): number {
    const fd = this.#disk.open(this.#pathOf(entry.key), 'read');
    try {
      const length = this.#disk.pread(fd, into, offset);
      if (length < into.length) throw new Error('a part of the contents is missing');
      return length;
    } finally {
      this.#disk.close(fd);
    }
  }

  path(entry: Entry): string | undefined {
    return entry.size > MAX_PACKED ? this.#pathOf(entry.key) : undefined;
  }

  /** A server before may have ended before it synced what the journal names. */
  adopt(): void {
    for (const name of this.#disk.readdir(folderOf(this.#store)))
      if (name.startsWith('data-')) this.#unsynced.push(this.#disk.open(`${folderOf(this.#store)}/${name}`, 'write'));
  }

  steps(): SyncStep[] {
    this.#covered = this.#unsynced.length;
    return [...this.#unsynced.map((fd) => ({ datasync: fd })), { folder: folderOf(this.#store) }];
  }

  synced(): void {
    for (const fd of this.#unsynced.splice(0, this.#covered)) this.#disk.close(fd);
  }

  syncFailed(): void {}

  #pathOf(key: Key): string {
    const { store, number } = fileOf(key)!;
    return pathOf(store, number);
  }
}

export function folderOf(store: bigint): string {
  return `/deltas/${store}`;
}

function pathOf(store: bigint, number: number): string {
  return `${folderOf(store)}/${nameOf(number)}`;
}

function nameOf(number: number): string {
  return `data-${number}`;
}

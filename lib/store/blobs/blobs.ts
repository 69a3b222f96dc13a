import type { Disk } from '../../disk/disk.ts';
import { errorCode } from '../../linux/errno.ts';
import { digestOf, hashKey, type Key } from '../../trees/format/keys.ts';
import { quietly } from '../packs/pack.ts';
import { BlobFiles } from './blob-files.ts';

const FOLDER = /^[0-9a-f]{2}$/;
const NAME = /^[0-9a-f]{64}$/;
/** Of all blobs: nobody writes to one again. */
export const BLOB_MODE = 0o400;

/** Where writings put contents that are files of their own. */
export type NamedBlobs = Pick<Blobs, 'publish' | 'sync'>;

/** The same for their one writer. A name is given to whole and synced contents only. */
export class Blobs extends BlobFiles {
  /** Files that writings do not find: they are to go. */
  readonly condemned = new Set<Key>();
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #folders: Set<string>;
  /** Folders of which all names are durable. Those that an earlier process left may be not. */
  readonly #synced = new Set<string>();
  /** Folders to be synced, and the names that are new in them. */
  readonly #unsynced = new Map<string, Set<Key>>();

  constructor(disk: Disk, folder: string) {
    super(disk, folder);
    this.#disk = disk;
    this.#folder = folder;
    this.#folders = new Set(disk.readdir(folder).filter((name) => FOLDER.test(name)));
    disk.syncFolder(folder);
  }

  *keys(): Generator<Key, void, void> {
    for (const folder of this.#disk
      .readdir(this.#folder)
      .filter((name) => FOLDER.test(name))
      .sort())
      for (const name of this.#disk.readdir(`${this.#folder}/${folder}`))
        if (NAME.test(name)) yield hashKey(Buffer.from(name, 'hex'));
  }

  has(key: Key): boolean {
    const fd = this.open(key);
    if (fd !== undefined) this.#disk.close(fd);
    return fd !== undefined;
  }

  /** Renames a synced file of what is being written. It replaces what has the name already, which may be damaged. */
  publish(key: Key, path: string): void {
    const folder = folderOf(key);
    this.#makeFolder(folder);
    this.condemned.delete(key);
    const isNew = !this.has(key);
    this.#disk.rename(path, this.path(key));
    // Two names of one file both stay.
    if (!isNew) quietly(() => this.#disk.unlink(path));
    this.#synced.delete(folder);
    this.use(key);
    if (isNew) this.#unsynced.get(folder)!.add(key);
  }

  /** The next sync makes its name durable, unless it is. */
  use(key: Key): void {
    const folder = folderOf(key);
    if (!this.#synced.has(folder) && !this.#unsynced.has(folder)) this.#unsynced.set(folder, new Set());
  }

  /** All names are durable; else new ones that may not be are gone, and it throws. */
  sync(lost: (keys: Iterable<Key>) => void): void {
    for (const [folder, made] of this.#unsynced) {
      this.#unsynced.delete(folder);
      try {
        this.#disk.syncFolder(`${this.#folder}/${folder}`);
      } catch (error) {
        for (const key of made) this.remove(key);
        lost(made);
        throw error;
      }
      this.#synced.add(folder);
    }
  }

  remove(key: Key): void {
    quietly(() => this.#disk.unlink(this.path(key)));
    this.condemned.delete(key);
  }

  #makeFolder(folder: string): void {
    if (this.#folders.has(folder)) return;
    const path = `${this.#folder}/${folder}`;
    try {
      this.#disk.mkdir(path);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    this.#disk.syncFolder(this.#folder);
    this.#folders.add(folder);
  }
}

function folderOf(key: Key): string {
  return digestOf(key)!.toString('hex', 0, 1);
}

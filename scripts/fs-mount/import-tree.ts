import { lstatSync, mkdirSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { type ByteString, fromBuffer, NO_BYTES } from '../../lib/byte-string.ts';
import { hostDisk } from '../../lib/disk/host-disk.ts';
import { isDirectory, S_IFLNK, S_IFMT, S_IFREG } from '../../lib/linux/mode.ts';
import { Cache } from '../../lib/store/cache.ts';
import { ObjectStore } from '../../lib/store/object-store.ts';
import { OpenFiles } from '../../lib/store/open-files.ts';
import type { Writing } from '../../lib/store/writing.ts';
import { patchDirectory } from '../../lib/trees/directory/patch-directory.ts';
import type { Change } from '../../lib/trees/directory/pieces.ts';
import type { DirectoryObject } from '../../lib/trees/format/directory-object.ts';
import { type DirectoryEntry, EMPTY_DIRECTORY, type Entry, TYPE } from '../../lib/trees/format/entry.ts';
import { type Key, NO_KEY } from '../../lib/trees/format/keys.ts';
import type { TreeSpec } from '../../lib/workspaces/workspaces.ts';

const CACHED = 64 << 20;
const LAST_NUMBER = 2 ** 47;

/** Stores files, directories and symlinks of a host directory as a tree; others are left out. `owners`: with their owners. */
export function importTree(from: string, folder: string, owners: boolean): TreeSpec {
  mkdirSync(folder, { recursive: true });
  const cache = new Cache<Key, DirectoryObject>(CACHED);
  const store = ObjectStore.create({ disk: hostDisk, files: new OpenFiles(hostDisk), cache }, folder, 1n);
  const writing = store.begin();
  const imported = new Import(store, writing, owners);
  const root = imported.directory(NO_BYTES, from, lstatSync(from));
  writing.sync();
  writing.end();
  store.close();
  return { store: folder, root, version: 1, number: 2n, numbers: { next: imported.next, end: LAST_NUMBER } };
}

class Import {
  next = 1;
  readonly #store: ObjectStore;
  readonly #writing: Writing;
  readonly #owners: boolean;
  /** Of files with several names, by their numbers on the host. */
  readonly #linked = new Map<number, Entry>();

  constructor(store: ObjectStore, writing: Writing, owners: boolean) {
    this.#store = store;
    this.#writing = writing;
    this.#owners = owners;
  }

  directory(name: ByteString, path: string, stat: Stats): DirectoryEntry {
    const changes: Change<Entry>[] = [];
    for (const bytes of readdirSync(path, { encoding: 'buffer' })) {
      const at = fromBuffer(bytes);
      const entry = this.#entry(at, join(path, bytes.toString()));
      if (entry !== undefined) changes.push([at, entry]);
    }
    changes.sort(([a], [b]) => (a < b ? -1 : 1));
    const below = patchDirectory(this.#store, this.#writing, NO_KEY, changes);
    return { ...this.#common(name, stat), ...EMPTY_DIRECTORY, ...below };
  }

  #entry(name: ByteString, path: string): Entry | undefined {
    const stat = lstatSync(path);
    const type = stat.mode & S_IFMT;
    if (isDirectory(stat.mode)) return this.directory(name, path, stat);
    if (type === S_IFLNK) {
      const target = fromBuffer(readlinkSync(path, 'buffer'));
      return { ...this.#common(name, stat), type: TYPE.symlink, size: target.length, target };
    }
    return type === S_IFREG ? this.#file(name, path, stat) : undefined;
  }

  #file(name: ByteString, path: string, stat: Stats): Entry {
    const known = this.#linked.get(stat.ino);
    if (known !== undefined) return { ...known, name };
    const stored = stat.size === 0 ? { key: NO_KEY, size: 0 } : this.#writing.putFile(path);
    const entry = { ...this.#common(name, stat), nlink: stat.nlink, key: stored.key, size: stored.size };
    if (stat.nlink > 1) this.#linked.set(stat.ino, entry);
    return entry;
  }

  #common(name: ByteString, { mode, uid, gid, mtimeMs, ctimeMs }: Stats): Entry {
    const [mtime, ctime] = [Math.floor(mtimeMs / 1000), Math.floor(ctimeMs / 1000)];
    const ns = (ms: number, s: number) => Math.floor((ms - s * 1000) * 1e6);
    return {
      ...{ name, type: TYPE.file, mode: mode & 0o7777, nlink: 1, ino: this.next++, size: 0, key: NO_KEY },
      ...{ mtime, mtimeNs: ns(mtimeMs, mtime), ctime, ctimeNs: ns(ctimeMs, ctime), atime: undefined },
      ...{ agentText: false, totals: undefined, target: undefined, rdev: undefined, holes: undefined },
      owner: this.#owners ? { uid, gid } : undefined,
    };
  }
}

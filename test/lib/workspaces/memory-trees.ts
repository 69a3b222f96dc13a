import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fromText, NO_BYTES } from '../../../lib/byte-string.ts';
import { isDirectory, S_IFLNK, S_IFMT } from '../../../lib/linux/mode.ts';
import { patchDirectory } from '../../../lib/trees/directory/patch-directory.ts';
import { type DirectoryEntry, EMPTY_DIRECTORY, type Entry, TYPE } from '../../../lib/trees/format/entry.ts';
import { fileKey, hashKey, type Key, NO_KEY, slotKey } from '../../../lib/trees/format/keys.ts';
import type { Engine } from '../../../lib/workspaces/engine.ts';
import { setData, setText } from '../../../lib/workspaces/tree/changes/contents.ts';
import type { TreeFileContents } from '../../../lib/workspaces/tree/contents/tree-file-contents.ts';
import { Epochs } from '../../../lib/workspaces/tree/epochs.ts';
import { freeze } from '../../../lib/workspaces/tree/freeze.ts';
import type { OwnFile } from '../../../lib/workspaces/tree/items.ts';
import { LiveTree } from '../../../lib/workspaces/tree/live-tree.ts';
import { treeEngine } from '../../../lib/workspaces/tree-engine.ts';
import type { TreeParts } from '../../../lib/workspaces/tree-workspace.ts';
import { Memory } from '../trees/memory.ts';
import { MemoryJournal } from './tree/memory-journal.ts';

const STORE = 7n;
const STORE_BYTES = slotKey({ store: STORE, class: 0, slot: 0, sequence: 0, birth: 0, crc: 0 }).slice(1, 9);

/** Names in patches beyond which a freeze after few changes would take most of the time. */
const MOST_FROZEN = 64;

/**
 * Trees and contents in memory, which outlive their server as long as the engine does. `every`: changes after which a tree is
 * frozen.
 */
export function memoryTrees(every: number): Engine {
  const disks = new Map<string, Disk>();
  return treeEngine(function* ({ base, delta }): Generator<undefined, TreeParts, void> {
    const disk = disks.get(delta) ?? new Disk(base);
    disks.set(delta, disk);
    disk.freeze();
    let changes = 0;
    return {
      live: disk.live,
      contents: disk.contents,
      nextIno: () => disk.imported.ino++,
      freezeIfDue() {
        if (++changes % every === 0 && disk.live.counters.patched < MOST_FROZEN) disk.freeze();
      },
      placeholderKeys: [],
      *syncing() {},
      close() {},
    };
  });
}

class Disk {
  readonly #memory = new Memory();
  readonly #stored = new Map<Key, Buffer>();
  readonly imported = new Imported(this.#memory, this.#stored);
  readonly live: LiveTree;
  readonly contents: MemoryContents;

  constructor(base: string) {
    const frozen = this.imported.directory(NO_BYTES, base);
    const epochs = new Epochs(STORE_BYTES, 1, 0);
    const journal = new MemoryJournal();
    this.live = new LiveTree({ source: this.#memory, frozen, base: { version: 1, base: frozen }, journal, epochs });
    this.contents = new MemoryContents(this.live, this.#stored);
  }

  freeze(): void {
    freeze(this.live, this.#memory.placed, () => new MemoryJournal(), false);
  }
}

class Imported {
  ino = 100;
  readonly #memory: Memory;
  readonly #stored: Map<Key, Buffer>;
  readonly #linked = new Map<number, Entry>();

  constructor(memory: Memory, stored: Map<Key, Buffer>) {
    this.#memory = memory;
    this.#stored = stored;
  }

  directory(name: Entry['name'], path: string): DirectoryEntry {
    const common = this.#common(name, path);
    const names = readdirSync(path).map((each) => [fromText(each), join(path, each)] as const);
    const changes = names
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([at, below]) => [at, this.#entry(at, below)] as const);
    return { ...common, ...EMPTY_DIRECTORY, ...patchDirectory(this.#memory, this.#memory.hashed, NO_KEY, changes) };
  }

  #entry(name: Entry['name'], path: string): Entry {
    const { mode, nlink, ino } = lstatSync(path);
    if (isDirectory(mode)) return this.directory(name, path);
    const known = this.#linked.get(ino);
    if (known !== undefined) return { ...known, name };
    const common = this.#common(name, path);
    if ((mode & S_IFMT) === S_IFLNK) {
      const target = fromText(readlinkSync(path));
      return { ...common, type: TYPE.symlink, size: target.length, target };
    }
    const bytes = readFileSync(path);
    const key = bytes.length === 0 ? NO_KEY : hashKey(createHash('sha256').update(bytes).digest());
    this.#stored.set(key, bytes);
    const entry = { ...common, type: TYPE.file, nlink, size: bytes.length, key };
    if (nlink > 1) this.#linked.set(ino, entry);
    return entry;
  }

  #common(name: Entry['name'], path: string): Entry {
    const { mode, mtimeMs } = lstatSync(path);
    const mtime = Math.floor(mtimeMs / 1000);
    const times = { mtime, mtimeNs: 0, ctime: mtime, ctimeNs: 0, atime: undefined };
    const none = { totals: undefined, target: undefined, rdev: undefined, holes: undefined, owner: undefined };
    const what = { type: TYPE.file, nlink: 1, size: 0, key: NO_KEY, agentText: false };
    return { name, mode: mode & 0o7777, ino: this.ino++, ...what, ...times, ...none };
  }
}

class MemoryContents implements TreeFileContents {
  readonly #live: LiveTree;
  readonly #stored: Map<Key, Buffer>;
  #number = 1;

  constructor(live: LiveTree, stored: Map<Key, Buffer>) {
    this.#live = live;
    this.#stored = stored;
  }

  read({ key }: Entry, offset: number, into: Buffer): number {
    return (this.#stored.get(key) ?? Buffer.alloc(0)).subarray(offset, offset + into.length).copy(into);
  }

  hostFile(): undefined {}

  write(file: OwnFile, offset: number, data: Buffer): number {
    const size = Math.max(file.entry.size, offset + data.length);
    const bytes = this.#sized(file, size);
    data.copy(bytes, offset);
    this.#set(file, bytes);
    return data.length;
  }

  truncate(file: OwnFile, size: number): void {
    this.#set(file, this.#sized(file, size));
  }

  makeText(file: OwnFile, bytes: Buffer): void {
    this.#set(file, Buffer.from(bytes));
    setText(this.#live, file, true);
  }

  sync(): undefined {}

  released({ key }: Entry): void {
    this.#stored.delete(key);
  }

  #sized({ entry }: OwnFile, size: number): Buffer {
    const bytes = Buffer.alloc(size);
    this.read(entry, 0, bytes);
    return bytes;
  }

  #set(file: OwnFile, bytes: Buffer): void {
    const birth = this.#live.epochs.epoch;
    const key = fileKey({ store: STORE, number: this.#number++, birth, version: 0 });
    this.#stored.set(key, bytes);
    const now = Date.now();
    const time = { s: Math.floor(now / 1000), ns: (now % 1000) * 1e6 };
    setData(this.#live, file, { key, size: bytes.length, holes: undefined }, time);
  }
}

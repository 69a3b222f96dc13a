import { fromLatin1, splitPath } from '../../../../lib/byte-string.ts';
import type { State } from '../../../../lib/sandboxes/tree/exchange.ts';
import type { Results, TreeSandbox } from '../../../../lib/sandboxes/tree/parts.ts';
import type { ObjectStore } from '../../../../lib/store/object-store.ts';
import { OpenFiles } from '../../../../lib/store/open-files.ts';
import type { Source } from '../../../../lib/trees/directory/source.ts';
import { type DirectoryEntry, EMPTY_DIRECTORY, TYPE } from '../../../../lib/trees/format/entry.ts';
import { isLocal, NO_KEY, slotKey } from '../../../../lib/trees/format/keys.ts';
import { setAttributes, setData } from '../../../../lib/workspaces/tree/changes/contents.ts';
import { move } from '../../../../lib/workspaces/tree/changes/move.ts';
import { drop, link, put } from '../../../../lib/workspaces/tree/changes/names.ts';
import { thaw } from '../../../../lib/workspaces/tree/changes/thaw.ts';
import { ObjectCache } from '../../../../lib/workspaces/tree/disk/object-cache.ts';
import { createStore, openStore, type StoreIn } from '../../../../lib/workspaces/tree/disk/open-store.ts';
import { PlacedObjects } from '../../../../lib/workspaces/tree/disk/placed-objects.ts';
import { SegmentReader } from '../../../../lib/workspaces/tree/disk/segment-reader.ts';
import { runSteps } from '../../../../lib/workspaces/tree/disk/sync-steps.ts';
import type { TreeRoot, TreeState } from '../../../../lib/workspaces/tree/disk/tree-root.ts';
import type { TreeStore } from '../../../../lib/workspaces/tree/disk/tree-store.ts';
import { Epochs } from '../../../../lib/workspaces/tree/epochs.ts';
import { AttachedTree, type FrozenTree } from '../../../../lib/workspaces/tree/exchange/attached-tree.ts';
import type { HeadMoves } from '../../../../lib/workspaces/tree/exchange/head-moves.ts';
import { GivenNumbers } from '../../../../lib/workspaces/tree/given-numbers.ts';
import { InodeNumbers } from '../../../../lib/workspaces/tree/inode-numbers.ts';
import { isDirectoryItem, type OwnDirectory, type OwnFile } from '../../../../lib/workspaces/tree/items.ts';
import { replaying } from '../../../../lib/workspaces/tree/journal/replay.ts';
import { LiveTree } from '../../../../lib/workspaces/tree/live-tree.ts';
import type { SimulatedDisk } from '../../disk/simulated-disk.ts';
import { directoryEntry, fileEntry } from '../../trees/random.ts';
import { MemoryJournal } from '../../workspaces/tree/memory-journal.ts';
import { folderOf, StoredContents } from './stored-contents.ts';

/** Of each lease of inode numbers. */
const LEASE = 1 << 16;

interface SandboxIn {
  readonly disk: SimulatedDisk;
  readonly codebase: ObjectStore;
  readonly moves: HeadMoves;
  /** Called whenever programs may go on. */
  readonly meanwhile: () => void;
}

/** A sandbox with its tree on a disk in memory, opened or created. Its programs are the calls of the test. */
export class SandboxOnDisk implements TreeSandbox {
  readonly id: string;
  readonly store: bigint;
  readonly source: Source;
  readonly contents: StoredContents;
  readonly results: Results;
  readonly tree: LiveTree;
  readonly #files: TreeStore;
  readonly #attached: AttachedTree;
  readonly #in: SandboxIn;
  #isHeld = false;
  #clock = 1000;
  failures: unknown[] = [];

  /** `first`: of one that is created. `numbers`: those of a lease. */
  constructor(where: SandboxIn, store: bigint, numbers: number, first: State) {
    const { disk, codebase, moves } = where;
    const bytes = slotKey({ store, class: 0, slot: 0, sequence: 0, birth: 0, crc: 0 }).slice(1, 9);
    const cache = new ObjectCache(1 << 20);
    const files = new OpenFiles(disk);
    const readers = new Map<bigint, SegmentReader>();
    const reader = (of: bigint) => {
      if (!readers.has(of)) readers.set(of, new SegmentReader(disk, files, folderOf(of)));
      return readers.get(of);
    };
    const places = new PlacedObjects(cache, reader);
    this.#in = where;
    this.id = `sb_${store}`;
    this.store = store;
    this.source = { load: (key) => (isLocal(key) ? places : codebase).load(key) };
    this.contents = new StoredContents(disk, store, 1);
    const opened: StoreIn = {
      disk,
      folder: folderOf(store),
      cache,
      seed: codebase.seed,
      sync: async (steps) => runSteps(disk, steps),
      contents: this.contents,
      random: () => 5,
    };
    const opening = openStore(opened);
    const root = opening?.root ?? rootOf(first, numbers);
    if (opening !== undefined) this.contents.adopt();
    const base = { version: root.version, base: root.base };
    const epochs = new Epochs(bytes, root.epoch, root.sharedEpoch);
    const frozen = root.mine;
    this.tree = new LiveTree({ source: this.source, frozen, base, journal: new MemoryJournal(), epochs });
    const left = new InodeNumbers(() => ({ next: numbers, end: numbers + LEASE }), root.numbers);
    const given = new GivenNumbers(root, left);
    if (opening !== undefined) for (const _ of replaying(this.tree, opening.journals(), given));
    this.contents.number = given.nextNumber;
    this.#files = opening?.finish() ?? createStore(opened, store, root);
    this.tree.journal = this.#files;
    this.numbers = left;
    this.results = {
      seed: codebase.seed,
      put: (object) => this.#files.results.put(object),
      sync: () => this.#files.syncResults(),
    };
    const state = () => ({ ...stateOf(numbers), numbers: left.left, nextNumber: this.contents.number });
    this.#attached = new AttachedTree({ tree: this.tree, store: this.#files, numbers: left, moves, state });
  }

  readonly numbers: InodeNumbers;

  get base() {
    return this.#attached.base;
  }

  async freeze(shared: boolean): Promise<FrozenTree> {
    const frozen = await this.#attached.freeze(shared);
    this.#goOn();
    return frozen;
  }

  take(to: DirectoryEntry, version: number): Promise<boolean> {
    return this.#attached.take(to, version);
  }

  swap(...args: Parameters<TreeSandbox['swap']>): Promise<boolean> {
    this.#goOn();
    return this.#attached.swap(...args);
  }

  async held<T>(step: () => Promise<T>): Promise<T> {
    this.#isHeld = true;
    try {
      return await step();
    } finally {
      this.#isHeld = false;
    }
  }

  lags(error: unknown): void {
    this.failures.push(error);
  }

  /** All that programs have done is durable. */
  async sync(): Promise<void> {
    await this.#attached.sync();
  }

  write(path: string, contents: string | Buffer): void {
    const bytes = Buffer.from(contents);
    const data = bytes.length === 0 ? { key: NO_KEY, size: 0 } : this.contents.put(bytes);
    const [dir, name] = this.#at(path);
    const item = this.tree.lookup(dir, name);
    if (item === undefined || isDirectoryItem(item) || ('type' in item && item.type !== TYPE.file))
      put(this.tree, dir, name, { ...fileEntry('', ''), ino: this.numbers.next(), ...data }, this.#time());
    else setData(this.tree, thaw(this.tree, dir, name), { ...data, holes: undefined }, this.#time());
  }

  symlink(path: string, target: string): void {
    const entry = {
      ...fileEntry('', target),
      type: TYPE.symlink,
      mode: 0o777,
      key: NO_KEY,
      target: fromLatin1(target),
    };
    put(this.tree, ...this.#at(path), { ...entry, ino: this.numbers.next() }, this.#time());
  }

  mkdir(path: string): void {
    const entry = { ...directoryEntry(''), ...EMPTY_DIRECTORY, ino: this.numbers.next() };
    put(this.tree, ...this.#at(path), entry, this.#time());
  }

  remove(path: string): void {
    drop(this.tree, ...this.#at(path), this.#time());
  }

  rename(from: string, to: string): void {
    const [[dir, name], [other, otherName]] = [this.#at(from), this.#at(to)];
    move(this.tree, { dir, name }, { dir: other, name: otherName }, 'replace', this.#time());
  }

  link(path: string, to: string): void {
    link(this.tree, thaw(this.tree, ...this.#at(path)), ...this.#at(to), this.#time());
  }

  chmod(path: string, mode: number): void {
    const [dir, name] = this.#at(path);
    const item: OwnDirectory | OwnFile = isDirectoryItem(this.tree.lookup(dir, name))
      ? this.tree.own(dir, name)
      : thaw(this.tree, dir, name);
    const { s, ns } = this.#time();
    setAttributes(this.tree, item, { ...item.entry, mode, ctime: s, ctimeNs: ns });
  }

  /** What a path has, or not. */
  has(path: string): boolean {
    try {
      return this.tree.lookup(...this.#at(path)) !== undefined;
    } catch {
      return false;
    }
  }

  #at(path: string): [OwnDirectory, ReturnType<typeof fromLatin1>] {
    const slash = path.lastIndexOf('/');
    const above = splitPath(fromLatin1(path.slice(0, Math.max(0, slash))));
    return [this.tree.ownAt(above), fromLatin1(path.slice(slash + 1))];
  }

  #time(): { s: number; ns: number } {
    return { s: this.#clock++, ns: 0 };
  }

  #goOn(): void {
    if (!this.#isHeld) this.#in.meanwhile();
  }
}

function stateOf(numbers: number): Omit<TreeState, 'mine' | 'base' | 'version' | 'epoch' | 'sharedEpoch'> {
  const counted = { ownBytes: 0, ownEntries: 0, retainedBytes: 0, nextSequence: 1, nextNumber: 1 };
  const left = [{ next: numbers, end: numbers + LEASE }];
  return { ...counted, numbers: left, slabMaps: NO_KEY, stores: [], redactionKeys: [] };
}

function rootOf({ mine, base }: State, numbers: number): TreeRoot {
  const unset = { store: 0n, generation: 0, former: { end: 0, crc: 0 }, segment: 0, nextSegment: 1 };
  return { ...stateOf(numbers), mine, base: base.base, version: base.version, epoch: 1, sharedEpoch: 0, ...unset };
}

import { type ByteString, fromLatin1 } from '../../../../../lib/byte-string.ts';
import type { Disk } from '../../../../../lib/disk/disk.ts';
import { OpenFiles } from '../../../../../lib/store/open-files.ts';
import { entriesOf } from '../../../../../lib/trees/directory/entries.ts';
import type { Source } from '../../../../../lib/trees/directory/source.ts';
import type { DirectoryEntry, Entry } from '../../../../../lib/trees/format/entry.ts';
import { NO_KEY, slotKey } from '../../../../../lib/trees/format/keys.ts';
import { HostSyncs, OwnSyncs } from '../../../../../lib/workspaces/delta/contents/host-syncs.ts';
import { LargeCopies } from '../../../../../lib/workspaces/delta/contents/large-copies.ts';
import { LargeFrees } from '../../../../../lib/workspaces/delta/contents/large-frees.ts';
import { Damage } from '../../../../../lib/workspaces/delta/damage.ts';
import { FrozenLayers } from '../../../../../lib/workspaces/delta/layers/frozen-layers.ts';
import { move } from '../../../../../lib/workspaces/tree/changes/move.ts';
import { drop, put } from '../../../../../lib/workspaces/tree/changes/names.ts';
import { thaw } from '../../../../../lib/workspaces/tree/changes/thaw.ts';
import { Descriptors } from '../../../../../lib/workspaces/tree/contents/descriptors.ts';
import { NamedContents } from '../../../../../lib/workspaces/tree/contents/named-contents.ts';
import { TreeContents } from '../../../../../lib/workspaces/tree/contents/tree-contents.ts';
import { ObjectCache } from '../../../../../lib/workspaces/tree/disk/object-cache.ts';
import { createStore, openStore, type StoreIn } from '../../../../../lib/workspaces/tree/disk/open-store.ts';
import { PlacedObjects } from '../../../../../lib/workspaces/tree/disk/placed-objects.ts';
import { SegmentReader } from '../../../../../lib/workspaces/tree/disk/segment-reader.ts';
import type { Sync } from '../../../../../lib/workspaces/tree/disk/sync-steps.ts';
import type { TreeStore } from '../../../../../lib/workspaces/tree/disk/tree-store.ts';
import type { Unsynced } from '../../../../../lib/workspaces/tree/disk/unsynced.ts';
import { Epochs } from '../../../../../lib/workspaces/tree/epochs.ts';
import { freeze } from '../../../../../lib/workspaces/tree/freeze.ts';
import { entryOf, type Item, OwnFile } from '../../../../../lib/workspaces/tree/items.ts';
import { replaying } from '../../../../../lib/workspaces/tree/journal/replay.ts';
import { LiveTree } from '../../../../../lib/workspaces/tree/live-tree.ts';
import { SEED } from '../../../trees/memory.ts';
import { fileEntry } from '../../../trees/random.ts';
import { STORE, stateAfter } from '../disk/numbered.ts';
import { numbersAfter } from '../disk/opened.ts';
import { MemoryJournal } from '../memory-journal.ts';

const STORE_BYTES = slotKey({ store: STORE, class: 0, slot: 0, sequence: 0, birth: 0, crc: 0 }).slice(1, 9);

/** Contents by name; undefined: they are damaged. */
export type Files = ReadonlyMap<string, Buffer | undefined>;

export interface LifeIn {
  readonly disk: Disk;
  /** The folder of all sandboxes. */
  readonly root: string;
  readonly sync: Sync;
  readonly random: (n: number) => number;
}

/** One server with a live tree, its journals and its contents, from its opening on. */
export class Life {
  readonly tree: LiveTree;
  readonly contents: TreeContents;
  readonly store: TreeStore;
  readonly #source: Source;
  readonly #reader: SegmentReader;
  #time = 1;

  constructor({ disk, root, sync, random }: LifeIn) {
    const later: Unsynced = {
      steps: () => this.contents.unsynced.steps(),
      synced: () => this.contents.unsynced.synced(),
      syncFailed: () => this.contents.unsynced.syncFailed(),
    };
    const folder = `${root}/s`;
    const where: StoreIn = {
      disk,
      folder,
      cache: new ObjectCache(0),
      seed: SEED,
      sync,
      contents: later,
      random: () => random(2 ** 32),
    };
    this.#reader = new SegmentReader(disk, new OpenFiles(disk), folder);
    const objects = new PlacedObjects(where.cache, () => this.#reader);
    this.#source = objects;
    const opening = openStore(where);
    const first = { ...stateAfter(0), slabMaps: NO_KEY, epoch: 1, sharedEpoch: 0, nextSequence: 1, nextNumber: 1 };
    const created = opening === undefined ? createStore(where, STORE, first) : undefined;
    const stored = (opening ?? created!).root;
    const { mine, base, version, epoch, sharedEpoch, slabMaps } = stored;
    const next = numbersAfter(stored);
    const epochs = new Epochs(STORE_BYTES, epoch, sharedEpoch);
    this.tree = new LiveTree({
      source: objects,
      frozen: mine,
      base: { version, base },
      journal: new MemoryJournal(),
      epochs,
    });
    const named = new NamedContents(objects, STORE);
    if (opening !== undefined) for (const _ of replaying(this.tree, named.watching(opening.journals()), next));
    this.store = created ?? opening!.finish();
    this.tree.journal = this.store;
    this.contents = new TreeContents({
      disk,
      descriptors: new Descriptors(),
      frozen: new FrozenLayers(),
      copies: new LargeCopies(),
      frees: new LargeFrees(),
      tree: this.tree,
      store: STORE,
      root,
      layer: 's/data',
      layerOf: () => undefined,
      codebase: undefined as never,
      next,
      syncs: new OwnSyncs(new HostSyncs(undefined, () => {})),
      journal: this.store,
      answer: () => {},
      now: () => ({ s: ++this.#time, ns: 0 }),
      damaged: () => {},
    });
    if (opening !== undefined) this.contents.load(slabMaps === NO_KEY ? undefined : objects.bytes(slabMaps), named);
  }

  /** Contents of a tree of files; absent: of the present one. */
  files(root?: DirectoryEntry): Map<string, Buffer | undefined> {
    const found = new Map<string, Buffer | undefined>();
    for (const entry of root === undefined ? this.#entries() : entriesOf(this.#source, root.key))
      found.set(entry.name, this.#read(entry));
    return found;
  }

  create(name: string): void {
    const ino = ++this.#time;
    this.#lost(put(this.tree, this.tree.root, fromLatin1(name), { ...fileEntry(name, ''), ino }, this.#now()).lost);
  }

  own(name: string): OwnFile {
    return thaw(this.tree, this.tree.root, fromLatin1(name));
  }

  /** Answers with the file if it stays open. */
  remove(name: string, staysOpen: boolean): OwnFile | undefined {
    const own = staysOpen ? this.own(name) : undefined;
    const item = drop(this.tree, this.tree.root, fromLatin1(name), this.#now());
    if (own === undefined) this.#lost(item);
    return own;
  }

  close(own: OwnFile): void {
    this.contents.released(own.entry);
  }

  move(from: string, to: string): void {
    const [dir, at] = [this.tree.root, (name: string): ByteString => fromLatin1(name)];
    this.#lost(move(this.tree, { dir, name: at(from) }, { dir, name: at(to) }, 'replace', this.#now()));
  }

  /** Answers with the frozen tree, and when it is durable. */
  freeze(shared: boolean): { root: DirectoryEntry; durable: PromiseLike<void> } {
    const { tree, store, contents } = this;
    let frozen = new Map() as ReturnType<typeof freeze>;
    const { root, durable } = store.freeze((sink, begin) => {
      const state = contents.state(sink);
      frozen = freeze(
        tree,
        sink,
        (mine, epochs) => {
          begin({ ...stateAfter(0), ...state, ...epochs, mine, base: tree.base.base, version: tree.base.version });
          return store;
        },
        shared,
      );
    });
    contents.frozen(frozen);
    return { root: root.mine, durable };
  }

  read(own: OwnFile): Buffer | undefined {
    return this.#read(own.entry);
  }

  end(): void {
    this.contents.close();
    this.#reader.close();
  }

  *#entries(): Generator<Entry> {
    const names = new Set<ByteString>();
    for (const entry of entriesOf(this.#source, this.tree.root.entry.key)) names.add(entry.name);
    for (const [name] of this.tree.root.patch) names.add(name);
    for (const name of names) {
      const item = this.tree.lookup(this.tree.root, name);
      if (item !== undefined) yield { ...entryOf(item), name };
    }
  }

  #read(entry: Entry): Buffer | undefined {
    const bytes = Buffer.alloc(entry.size);
    try {
      return bytes.subarray(0, this.contents.read(entry, 0, bytes));
    } catch (error) {
      if (error instanceof Damage) return undefined;
      throw error;
    }
  }

  #lost(item: Item | undefined): void {
    if (item !== undefined) this.contents.released(item instanceof OwnFile ? item.entry : entryOf(item));
  }

  #now(): { s: number; ns: number } {
    return { s: ++this.#time, ns: 0 };
  }
}

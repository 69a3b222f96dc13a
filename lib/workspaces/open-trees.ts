import { randomInt } from 'node:crypto';
import { hostDisk } from '../disk/host-disk.ts';
import { ServiceError } from '../errors.ts';
import type { Steps } from '../fuse/connection/steps.ts';
import { Cache } from '../store/cache.ts';
import { ObjectStore } from '../store/object-store.ts';
import { OpenFiles } from '../store/open-files.ts';
import type { Source } from '../trees/directory/source.ts';
import type { DirectoryObject } from '../trees/format/directory-object.ts';
import type { DirectoryEntry } from '../trees/format/entry.ts';
import { isLocal, type Key, NO_KEY, slotKey } from '../trees/format/keys.ts';
import { OwnSyncs } from './delta/contents/host-syncs.ts';
import type { Shared } from './shared.ts';
import { Descriptors } from './tree/contents/descriptors.ts';
import { TreeContents } from './tree/contents/tree-contents.ts';
import { isFull } from './tree/disk/files.ts';
import { hostSync } from './tree/disk/host-sync.ts';
import { ObjectCache } from './tree/disk/object-cache.ts';
import { createStore, openStore, type StoreIn } from './tree/disk/open-store.ts';
import { PlacedObjects } from './tree/disk/placed-objects.ts';
import { SegmentReader } from './tree/disk/segment-reader.ts';
import type { SyncStep } from './tree/disk/sync-steps.ts';
import type { TreeState } from './tree/disk/tree-root.ts';
import type { TreeStore } from './tree/disk/tree-store.ts';
import type { Unsynced } from './tree/disk/unsynced.ts';
import { Epochs, type NextEpochs } from './tree/epochs.ts';
import { type Frozen, freeze } from './tree/freeze.ts';
import { InodeNumbers } from './tree/inode-numbers.ts';
import { LiveTree } from './tree/live-tree.ts';
import type { OpenTree, TreeParts } from './tree-workspace.ts';
import type { Workspace } from './workspace.ts';
import type { TreeSpec, WorkspaceSpec } from './workspaces.ts';

/** Bytes of directory objects in memory: of codebases, and of sandboxes. */
const CACHED = 64 << 20;

/** What all trees of a thread share. */
class Thread {
  readonly disk = hostDisk;
  readonly files = new OpenFiles(hostDisk);
  readonly objects = new ObjectCache(CACHED);
  readonly descriptors = new Descriptors();
  readonly #cache = new Cache<Key, DirectoryObject>(CACHED);
  readonly #codebases = new Map<string, ObjectStore>();

  codebase(folder: string): ObjectStore {
    let store = this.#codebases.get(folder);
    if (store === undefined) {
      store = ObjectStore.open({ disk: this.disk, files: this.files, cache: this.#cache }, folder);
      this.#codebases.set(folder, store);
    }
    return store;
  }
}

/** Opens workspaces that are trees over the store of a codebase. */
export function openTrees(): OpenTree {
  const thread = new Thread();
  return (spec, shared) => opening(thread, spec, shared);
}

function* opening(thread: Thread, spec: WorkspaceSpec, shared: Shared<Workspace>): Steps<TreeParts> {
  const { tree } = spec;
  if (tree === undefined) throw new ServiceError('INVALID_ARGUMENT', 'tree: a workspace of this kind has one');
  const { disk, files, objects } = thread;
  const syncs = new OwnSyncs(shared.syncs);
  const codebase = thread.codebase(tree.store);
  const later = new Later();
  const where: StoreIn = {
    ...{ disk, folder: spec.delta, cache: objects, seed: codebase.seed, contents: later },
    sync: hostSync(disk, syncs),
    random: () => randomInt(2 ** 32),
  };
  const known = openStore(where);
  if (known !== undefined) {
    known.close();
    throw new ServiceError('UNIMPLEMENTED', 'a tree that was attached before cannot be attached again yet');
  }
  const reader = new SegmentReader(disk, files, spec.delta);
  const places = new PlacedObjects(objects, (store) => (store === tree.number ? reader : undefined));
  const source: Source = { load: (key) => (isLocal(key) ? places.load(key) : codebase.load(key)) };
  const numbers = new InodeNumbers(noMoreNumbers, [tree.numbers]);
  const store = createStore(where, tree.number, firstState(tree));
  const base = { version: tree.version, base: tree.root };
  const epochs = new Epochs(storeBytes(tree.number), 1, 0);
  const live = new LiveTree({ source, frozen: tree.root, base, journal: store, epochs });
  const parts = new OpenedParts({ thread, spec, shared, tree, live, store, codebase, syncs, numbers, reader });
  later.contents = parts.contents.unsynced;
  return parts;
}

/** The contents of a tree, which are opened after its files. */
class Later implements Unsynced {
  contents: Unsynced | undefined;

  steps(): SyncStep[] {
    return this.contents!.steps();
  }

  synced(): void {
    this.contents!.synced();
  }

  syncFailed(): void {
    this.contents!.syncFailed();
  }
}

interface PartsIn {
  readonly thread: Thread;
  readonly spec: WorkspaceSpec;
  readonly shared: Shared<Workspace>;
  readonly tree: TreeSpec;
  readonly live: LiveTree;
  readonly store: TreeStore;
  readonly codebase: ObjectStore;
  readonly syncs: OwnSyncs;
  readonly numbers: InodeNumbers;
  readonly reader: SegmentReader;
}

class OpenedParts implements TreeParts {
  readonly live: LiveTree;
  readonly contents: TreeContents;
  readonly placeholderKeys = [];
  readonly #in: PartsIn;

  constructor(where: PartsIn) {
    const { thread, spec, shared, tree, live, codebase, syncs } = where;
    const { disk, descriptors } = thread;
    this.#in = where;
    this.live = live;
    this.contents = new TreeContents({
      ...{ disk, descriptors, frozen: shared.frozen, copies: shared.copies, frees: shared.frees },
      ...{ tree: live, store: tree.number, codebase, syncs },
      root: spec.delta,
      layer: 'data',
      layerOf: () => undefined,
      next: { nextSequence: 1, nextNumber: 1 },
      now: () => {
        const { sec, nsec } = shared.clock.now();
        return { s: sec, ns: nsec };
      },
      journal: where.store,
      answer: shared.answer,
      damaged: (_, message) => shared.damaged({ id: spec.id, message }),
    });
  }

  nextIno(): number {
    return this.#in.numbers.next();
  }

  freezeIfDue(): void {
    const { live, store } = this.#in;
    if (!live.isFreezeDue || store.isFreezing) return;
    try {
      let frozen: Frozen = new Map();
      store.freeze((sink, begin) => {
        const contents = this.contents.state(sink);
        const begun = (root: DirectoryEntry, next: NextEpochs) => {
          begin({ ...this.#state(root, next), ...contents });
          return store;
        };
        frozen = freeze(live, sink, begun, false);
      });
      this.contents.frozen(frozen);
    } catch (error) {
      // On a full disk the journal goes on.
      if (!isFull(error)) throw error;
    }
  }

  #state(mine: DirectoryEntry, next: NextEpochs): TreeState {
    const { live, numbers, store } = this.#in;
    const { ownBytes, ownEntries } = mine.totals;
    const { version, base } = live.base;
    const own = { ownBytes, ownEntries, retainedBytes: 0, numbers: numbers.left };
    return { ...store.root, mine, base, version, ...next, ...own };
  }

  *syncing(): Steps<void> {}

  close(): void {
    const { store, reader } = this.#in;
    this.contents.close();
    reader.close();
    store.close();
  }
}

function firstState({ root, version, numbers }: TreeSpec): TreeState {
  const none = { ownBytes: 0, ownEntries: 0, retainedBytes: 0, stores: [], redactionKeys: [], slabMaps: NO_KEY };
  const next = { nextSequence: 1, nextNumber: 1 };
  return { mine: root, base: root, version, epoch: 1, sharedEpoch: 0, numbers: [numbers], ...none, ...next };
}

/** As keys have it. */
function storeBytes(store: bigint): string {
  return slotKey({ store, class: 0, slot: 0, sequence: 0, birth: 0, crc: 0 }).slice(1, 9);
}

function noMoreNumbers(): never {
  throw new ServiceError('RESOURCE_EXHAUSTED', 'the workspace has no more inode numbers');
}

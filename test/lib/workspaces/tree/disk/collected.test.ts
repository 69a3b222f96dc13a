import { beforeEach, describe, expect, it } from 'vitest';
import { fromLatin1 } from '../../../../../lib/byte-string.ts';
import { Collection } from '../../../../../lib/store/garbage/collection.ts';
import { SEAL_AT } from '../../../../../lib/store/limits.ts';
import type { ObjectStore } from '../../../../../lib/store/object-store.ts';
import { OpenFiles } from '../../../../../lib/store/open-files.ts';
import { findEntry } from '../../../../../lib/trees/directory/find-entry.ts';
import type { Source } from '../../../../../lib/trees/directory/source.ts';
import type { DirectoryEntry } from '../../../../../lib/trees/format/entry.ts';
import { isLocal, slotKey } from '../../../../../lib/trees/format/keys.ts';
import { move } from '../../../../../lib/workspaces/tree/changes/move.ts';
import { drop, put } from '../../../../../lib/workspaces/tree/changes/names.ts';
import { createStore, openStore } from '../../../../../lib/workspaces/tree/disk/open-store.ts';
import { PlacedObjects } from '../../../../../lib/workspaces/tree/disk/placed-objects.ts';
import { SegmentReader } from '../../../../../lib/workspaces/tree/disk/segment-reader.ts';
import { runSteps, type SyncStep } from '../../../../../lib/workspaces/tree/disk/sync-steps.ts';
import type { TreeRoot } from '../../../../../lib/workspaces/tree/disk/tree-root.ts';
import { Epochs } from '../../../../../lib/workspaces/tree/epochs.ts';
import { rebase, take } from '../../../../../lib/workspaces/tree/exchange/follow-head.ts';
import { HeadMove } from '../../../../../lib/workspaces/tree/exchange/head-move.ts';
import { freeze } from '../../../../../lib/workspaces/tree/freeze.ts';
import type { Journal } from '../../../../../lib/workspaces/tree/journal/records.ts';
import { replaying } from '../../../../../lib/workspaces/tree/journal/replay.ts';
import { LiveTree } from '../../../../../lib/workspaces/tree/live-tree.ts';
import { rootsOf } from '../../../../../lib/workspaces/tree/roots.ts';
import { SimulatedDisk } from '../../../disk/simulated-disk.ts';
import { NO_PLACES, putVersion, rootsOf as rootsOfVersions } from '../../../store/garbage/stored-trees.ts';
import { newStore, reopened } from '../../../store/stores.ts';
import { fileEntry, seeded } from '../../../trees/random.ts';
import { flatOf } from '../flat.ts';
import { at, TIME } from '../live.ts';
import { MemoryJournal } from '../memory-journal.ts';
import { STORE, stateAfter } from './numbered.ts';
import { numbersAfter, storeIn } from './opened.ts';
import { settled } from './stepped-sync.ts';

/** Each version has packs of its own. */
const SEAL = { ...SEAL_AT, objects: 2 };
const STORE_BYTES = slotKey({ store: STORE, class: 0, slot: 0, sequence: 0, birth: 0, crc: 0 }).slice(1, 9);

let disk: SimulatedDisk;
let codebase: ObjectStore;
let version: number;
let isHeld: boolean;

beforeEach(() => {
  disk = new SimulatedDisk();
  codebase = newStore(disk, SEAL);
  disk.mkdir('/deltas');
  disk.syncFolder('/');
  version = 0;
  isHeld = false;
});

/** Waits for ever before the last step, if that is held. */
async function sync(steps: readonly SyncStep[]): Promise<void> {
  runSteps(disk, isHeld ? steps.slice(0, -1) : steps);
  if (isHeld) await new Promise(() => {});
}

const where = () => storeIn(disk, sync, seeded(1));

function upload(files: Record<string, string>): DirectoryEntry {
  return codebase.version(putVersion(codebase, ++version, files)).root;
}

function treeOf(root: TreeRoot, journal: Journal): LiveTree {
  const reader = new SegmentReader(disk, new OpenFiles(disk), where().folder);
  const places = new PlacedObjects(where().cache, () => reader);
  const source: Source = { load: (key) => (isLocal(key) ? places : codebase).load(key) };
  const base = { version: root.version, base: root.base };
  const epochs = new Epochs(STORE_BYTES, root.epoch, root.sharedEpoch);
  return new LiveTree({ source, frozen: root.mine, base, journal, epochs });
}

/** A sandbox of a head. */
function sandboxOf(head: DirectoryEntry) {
  const store = createStore(where(), STORE, { ...stateAfter(0), mine: head, base: head, version });
  return { store, tree: treeOf(store.root, store) };
}

function follow(tree: LiveTree, head: DirectoryEntry): void {
  expect(take(tree, new HeadMove(tree.source, tree.base.base, head), version)).toBe(true);
}

const make = (tree: LiveTree, path: string) => put(tree, ...at(tree, path), fileEntry('', '', { ino: 900 }), TIME);

/** Keeps the newest version, which is empty, and what the sandbox names. */
function collect(named: ReturnType<typeof rootsOf>): void {
  const head = putVersion(codebase, ++version, {});
  const collection = new Collection(codebase, disk, () => rootsOfVersions({ head }, { ...named, places: NO_PLACES }));
  const steps = collection.steps();
  for (;;) {
    const { done, value } = steps.next();
    if (!done) continue;
    expect(value.packs).not.toEqual([]);
    collection.remove(value);
    return;
  }
}

/** What another server finds. `collects`: it collects garbage first, without a look at the tree. */
function restarted(collects = false) {
  disk = disk.killed();
  codebase = reopened(disk, SEAL);
  if (collects) {
    const unattached = openStore(where())!;
    for (const journal of unattached.journals()) for (const _ of journal);
    collect(rootsOf('sandbox', unattached));
    unattached.close();
  }
  const opening = openStore(where())!;
  const tree = treeOf(opening.root, new MemoryJournal());
  for (const _ of replaying(tree, opening.journals(), numbersAfter(opening.root)));
  opening.finish().close();
  return tree;
}

/** Head moves three times; the last move is not recorded. */
function moved() {
  // No version that was dropped is kept for its pack.
  upload({ 'z/z': 'never seen' });
  const sandbox = sandboxOf(upload({ 'a/x': '1', 'b/x': '1' }));
  const { tree } = sandbox;
  make(tree, 'own');
  follow(tree, upload({ 'a/x': '2', 'b/x': '1', 'c/x': '2' }));
  make(tree, 'own2');
  follow(tree, upload({ 'a/x': '3', 'b/x': '1' }));
  drop(tree, ...at(tree, 'own2'), TIME);
  follow(tree, upload({ 'a/x': '3', 'b/x': '4' }));
  return sandbox;
}

describe('the codebase of a sandbox, collected between a move of head and a crash', () => {
  it('has the former heads that the journal goes through', () => {
    const { store, tree } = moved();
    collect(rootsOf('sandbox', store, tree));
    make(tree, 'last');
    const before = flatOf(tree);
    store.close();
    expect(flatOf(restarted())).toEqual(before);
  });

  it('has them, too, while nobody has attached the sandbox since the crash', () => {
    const { store, tree } = moved();
    make(tree, 'last');
    const before = flatOf(tree);
    store.close();
    expect(flatOf(restarted(true))).toEqual(before);
  });

  it('has what the sandbox took of a former head and moved elsewhere', () => {
    const { store, tree } = moved();
    follow(tree, upload({ 'a/x': '3', 'b/x': '4', 'd/deep/x': '5' }));
    move(tree, place(tree, 'd'), place(tree, 'e'), 'replace', TIME);
    rebase(tree, { version, base: upload({ 'a/x': '3', 'b/x': '4' }) });
    collect(rootsOf('sandbox', store, tree));
    const contents = findEntry(
      tree.source,
      findEntry(tree.source, entryOf(tree, 'e').key, name('deep'))!.key,
      name('x'),
    )!;
    expect(codebase.bytes(contents.key, 1).toString()).toBe('5');
  });

  it('loses former heads when a later root is durable', async () => {
    const { store, tree } = moved();
    const { durable } = store.freeze((sink, begin) => {
      freeze(
        tree,
        sink,
        (mine, epochs) => {
          begin({ ...stateAfter(0), ...epochs, mine, ...tree.base });
          return store;
        },
        false,
      );
    });
    const during = rootsOf('sandbox', store, tree).directories.length;
    await durable;
    expect(during).toBeGreaterThan(3);
    expect(rootsOf('sandbox', store, tree).directories).toHaveLength(2);
  });

  it('is not collected while a crash may bring back an older root of the sandbox', async () => {
    const { store } = moved();
    isHeld = true;
    store.freeze((_, begin) => begin({ ...stateAfter(0), mine: store.root.mine }));
    await settled();
    isHeld = false;
    disk = disk.killed();
    codebase = reopened(disk, SEAL);
    const opening = openStore(where())!;
    expect(opening.root.generation).toBe(2);
    for (const journal of opening.journals()) for (const _ of journal);
    expect(() => collect(rootsOf('sandbox', opening))).toThrow('durable');
    const again = opening.finish();
    await again.sync();
    expect(rootsOf('sandbox', again).directories).not.toEqual([]);
  });
});

const name = fromLatin1;

function place(tree: LiveTree, path: string) {
  const [dir, last] = at(tree, path);
  return { dir, name: last };
}

function entryOf(tree: LiveTree, path: string): DirectoryEntry {
  return tree.lookup(...at(tree, path)) as DirectoryEntry;
}

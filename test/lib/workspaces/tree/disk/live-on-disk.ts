import { type ByteString, fromLatin1, splitPath } from '../../../../../lib/byte-string.ts';
import { Errno } from '../../../../../lib/linux/errno.ts';
import { OpenFiles } from '../../../../../lib/store/open-files.ts';
import type { Source } from '../../../../../lib/trees/directory/source.ts';
import { type DirectoryEntry, EMPTY_DIRECTORY } from '../../../../../lib/trees/format/entry.ts';
import { isLocal, type Key, slotKey, slotOf } from '../../../../../lib/trees/format/keys.ts';
import { setAttributes, setData } from '../../../../../lib/workspaces/tree/changes/contents.ts';
import { move } from '../../../../../lib/workspaces/tree/changes/move.ts';
import { drop, link, put } from '../../../../../lib/workspaces/tree/changes/names.ts';
import { thaw } from '../../../../../lib/workspaces/tree/changes/thaw.ts';
import { createStore, openStore, type StoreIn } from '../../../../../lib/workspaces/tree/disk/open-store.ts';
import { PlacedObjects } from '../../../../../lib/workspaces/tree/disk/placed-objects.ts';
import { SegmentReader } from '../../../../../lib/workspaces/tree/disk/segment-reader.ts';
import type { TreeRoot, TreeState } from '../../../../../lib/workspaces/tree/disk/tree-root.ts';
import type { TreeStore } from '../../../../../lib/workspaces/tree/disk/tree-store.ts';
import { Epochs, type NextEpochs } from '../../../../../lib/workspaces/tree/epochs.ts';
import { take } from '../../../../../lib/workspaces/tree/exchange/follow-head.ts';
import { HeadMove } from '../../../../../lib/workspaces/tree/exchange/head-move.ts';
import { planTake } from '../../../../../lib/workspaces/tree/exchange/take.ts';
import { freeze } from '../../../../../lib/workspaces/tree/freeze.ts';
import type { Journal } from '../../../../../lib/workspaces/tree/journal/records.ts';
import { replaying } from '../../../../../lib/workspaces/tree/journal/replay.ts';
import { LiveTree } from '../../../../../lib/workspaces/tree/live-tree.ts';
import { type SimulatedDisk, Stopped } from '../../../disk/simulated-disk.ts';
import { withEntry } from '../../../trees/edit.ts';
import type { Memory } from '../../../trees/memory.ts';
import { directoryEntry, fileEntry, type Random } from '../../../trees/random.ts';
import { difference, type Flat, flatOf } from '../flat.ts';
import { MemoryJournal } from '../memory-journal.ts';
import { STORE, stateAfter } from './numbered.ts';
import { numbersAfter, storeIn } from './opened.ts';
import { SteppedSync, settled } from './stepped-sync.ts';

const NAMES = ['a', 'b', 'c'];
const STORE_BYTES = slotKey({ store: STORE, class: 0, slot: 0, sequence: 0, birth: 0, crc: 0 }).slice(1, 9);

type Change = (tree: LiveTree) => void;

/** A live tree on a disk, from its opening to the end of its server, with all the states that it had. */
export class LiveOnDisk {
  readonly #random: Random;
  readonly #thread: SteppedSync;
  readonly #codebase: Memory;
  readonly #store: TreeStore;
  readonly #tree: LiveTree;
  /** Does each change first, in memory: so the state that a change would lead to is known. */
  readonly #twin: LiveTree;
  readonly states: Flat[];
  /** The last state that was answered, and that a loss of power must leave. */
  answered: number;
  durable = 0;
  #number: number;

  /** `states`: those of the servers before, of which it has found one. */
  constructor(disk: SimulatedDisk, random: Random, codebase: Memory, states?: readonly Flat[]) {
    this.#random = random;
    this.#codebase = codebase;
    this.#thread = new SteppedSync(disk);
    const where = storeIn(disk, this.#thread.sync, random);
    const first = opened(where, codebase);
    this.#store = first.store;
    this.#tree = first.tree;
    this.#tree.journal = first.store;
    this.#twin = opened(where, codebase, false).tree;
    const found = flatOf(this.#tree);
    this.answered = states === undefined ? 0 : states.findLastIndex((each) => difference(each, found) === '');
    if (this.answered < 0) throw new Error(`a mix of states: ${difference(found, states!.at(-1)!)}`);
    this.states = [...(states?.slice(0, this.answered) ?? []), found];
    this.#number = Math.max(1000 * (1 + disk.calls), first.next);
  }

  /** A random thing. Returns false at the end of the server. */
  async act(): Promise<boolean> {
    try {
      const choice = this.#random(20);
      if (choice < 12) this.#change();
      else if (choice < 14) this.#moveHead();
      else if (choice === 14) this.#becomesDurable(this.#store.sync());
      else if (choice === 15) this.#freeze();
      else await this.#thread.advance();
      await settled();
      return true;
    } catch (error) {
      if (error instanceof Stopped) return false;
      throw error;
    }
  }

  #freeze(): void {
    if (this.#store.isFreezing) return;
    const tree = this.#tree;
    const { durable } = this.#store.freeze((sink, begin) => {
      const next = (mine: TreeState['mine'], epochs: NextEpochs): Journal => {
        begin({
          ...stateAfter(0),
          ...epochs,
          nextSequence: this.#number,
          mine,
          base: tree.base.base,
          version: tree.base.version,
        });
        return this.#store;
      };
      freeze(tree, sink, next, false);
    });
    this.#becomesDurable(durable);
  }

  #becomesDurable(promise: PromiseLike<void>): void {
    const state = this.answered;
    promise.then(
      () => {
        this.durable = Math.max(this.durable, state);
      },
      () => {},
    );
  }

  #change(): void {
    const change = this.#anyChange();
    const expected = outcome(change, this.#twin);
    if (expected === undefined) this.states.push(flatOf(this.#twin));
    const { end } = this.#store.at;
    const found = outcome(change, this.#tree);
    if (found !== expected) throw new Error(`${found?.errno} instead of ${expected?.errno}`);
    // Without a record, a move of head that was not recorded either may be lost.
    if (this.#store.at.end > end) this.answered = this.states.length - 1;
  }

  /** It is recorded with the next change: a crash before that brings back the state of before, and nothing is lost. */
  #moveHead(): void {
    if (!this.#store.isRooted) return;
    const { version, base } = this.#tree.base;
    const entry = this.#random(3) ? { ...fileEntry('', 'head'), ino: this.#number++ } : undefined;
    const codebase = this.#codebase;
    const head = withEntry(codebase, codebase.hashed, base, NAMES[this.#random(3)]!, entry) as DirectoryEntry;
    const trees = [this.#twin, this.#tree];
    const moves = trees.map((tree) => [tree, new HeadMove(tree.source, base, head)] as const);
    // The twin is not frozen, and may have to be followed elsewhere where the other one need not.
    if (moves.some(([tree, move]) => planTake(tree, move) === undefined)) return;
    for (const [tree, move] of moves) take(tree, move, version + 1);
    this.states.push(flatOf(this.#twin));
  }

  #anyChange(): Change {
    const random = this.#random;
    const [path, other] = [this.#path(), this.#path()];
    const number = this.#number++;
    const time = { s: number, ns: 0 };
    const attributes = { mode: 0o700 + random(64), mtime: number, mtimeNs: 0, ctime: number, ctimeNs: 0 };
    const how = random(3) ? 'replace' : 'exchange';
    const changes: Change[] = [
      (tree) => put(tree, ...at(tree, path), { ...fileEntry('', ''), ino: number }, time),
      (tree) => put(tree, ...at(tree, path), { ...directoryEntry(''), ...EMPTY_DIRECTORY, ino: number }, time),
      (tree) => drop(tree, ...at(tree, path), time),
      (tree) => move(tree, place(tree, path), place(tree, other), how, time),
      (tree) => link(tree, thaw(tree, ...at(tree, path)), ...at(tree, other), time),
      (tree) =>
        setData(tree, thaw(tree, ...at(tree, path)), { key: contents(number), size: 5, holes: undefined }, time),
      (tree) =>
        setAttributes(tree, thaw(tree, ...at(tree, path)), { ...attributes, atime: undefined, owner: undefined }),
    ];
    return changes[random(changes.length)]!;
  }

  #path(): string {
    return Array.from({ length: 1 + this.#random(3) }, () => NAMES[this.#random(3)]!).join('/');
  }
}

function contents(slot: number): Key {
  return slotKey({ store: STORE, class: 1, slot, sequence: slot, birth: 1, crc: 0 });
}

function at(tree: LiveTree, path: string): [LiveTree['root'], ByteString] {
  const slash = path.lastIndexOf('/');
  return [tree.ownAt(splitPath(fromLatin1(path.slice(0, Math.max(0, slash))))), fromLatin1(path.slice(slash + 1))];
}

function place(tree: LiveTree, path: string): { dir: LiveTree['root']; name: ByteString } {
  const [dir, name] = at(tree, path);
  return { dir, name };
}

/** The error of a change that cannot be. */
function outcome(change: Change, tree: LiveTree): Errno | undefined {
  try {
    change(tree);
    return undefined;
  } catch (error) {
    if (error instanceof Errno) return error;
    throw error;
  }
}

/** The live tree that the files have, replayed; in a store that is made if there is none. */
function opened(where: StoreIn, codebase: Memory, finish = true): { tree: LiveTree; store: TreeStore; next: number } {
  const opening = openStore(where);
  if (opening === undefined) {
    const store = createStore(where, STORE, stateAfter(0));
    return { tree: treeOf(where, codebase, store.root), store, next: 0 };
  }
  const tree = treeOf(where, codebase, opening.root);
  const given = numbersAfter(opening.root);
  for (const _ of replaying(tree, opening.journals(), given));
  const next = given.nextSequence;
  for (const { contents } of flatOf(tree).values())
    if ((slotOf(contents as Key)?.sequence ?? 0) >= next) throw new Error('a number is given again');
  if (finish) return { tree, store: opening.finish(), next };
  opening.close();
  return { tree, store: undefined as never, next };
}

function treeOf({ disk, folder, cache }: StoreIn, codebase: Memory, root: TreeRoot): LiveTree {
  const reader = new SegmentReader(disk, new OpenFiles(disk), folder);
  const epochs = new Epochs(STORE_BYTES, root.epoch, root.sharedEpoch);
  const base = { version: root.version, base: root.base };
  const places = new PlacedObjects(cache, () => reader);
  const source: Source = { load: (key) => (isLocal(key) ? places : codebase).load(key) };
  return new LiveTree({ source, frozen: root.mine, base, journal: new MemoryJournal(), epochs });
}

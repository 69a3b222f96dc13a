import { type DirectoryEntry, identical } from '../../../trees/format/entry.ts';
import type { NumberRange, TreeState } from '../disk/tree-root.ts';
import type { TreeStore } from '../disk/tree-store.ts';
import type { NextEpochs } from '../epochs.ts';
import { freeze } from '../freeze.ts';
import type { InodeNumbers } from '../inode-numbers.ts';
import type { Journal, Root } from '../journal/records.ts';
import type { LiveTree } from '../live-tree.ts';
import { swap, take } from './follow-head.ts';
import type { HeadMoves } from './head-moves.ts';

/** What a workspace had at one moment. Its root is durable. */
export interface FrozenTree {
  readonly mine: DirectoryEntry;
  readonly base: Root;
  /** Inode numbers that only this sandbox has. */
  readonly own: readonly NumberRange[];
  /** Until then its contents stay as they are. */
  release(): void;
}

export interface AttachedIn {
  readonly tree: LiveTree;
  readonly store: TreeStore;
  readonly numbers: InodeNumbers;
  readonly moves: HeadMoves;
  /** What else a root keeps, at a freeze. */
  readonly state: () => Omit<TreeState, 'mine' | 'base' | 'version' | keyof NextEpochs>;
}

/** How others exchange the tree of a running workspace. Each call happens between two requests of programs, or not at all. */
export class AttachedTree {
  readonly #in: AttachedIn;

  constructor(where: AttachedIn) {
    this.#in = where;
  }

  get base(): Root {
    return this.#in.tree.base;
  }

  /** `shared`: others will have the contents, too. Rejects with UNAVAILABLE if the root could not be made durable. */
  async freeze(shared: boolean): Promise<FrozenTree> {
    const { tree, store, numbers, state } = this.#in;
    await this.#unfrozen();
    const own = numbers.own;
    const { base } = tree;
    const { root, durable } = store.freeze((sink, begin) => {
      const next = (mine: DirectoryEntry, epochs: NextEpochs): Journal => {
        begin({ ...state(), ...epochs, mine, base: base.base, version: base.version });
        return store;
      };
      freeze(tree, sink, next, shared);
    });
    const release = tree.epochs.pin();
    if (shared) numbers.share();
    try {
      await durable;
      return { mine: root.mine, base, own, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** See `take` of `follow-head.ts`. */
  async take(to: DirectoryEntry, version: number): Promise<boolean> {
    const { tree, moves } = this.#in;
    await this.#rooted();
    return take(tree, moves.of(tree.source, tree.base.base, to), version);
  }

  /** See `swap` of `follow-head.ts`. Also false if only attributes of the root were frozen since. */
  async swap(from: DirectoryEntry, mine: DirectoryEntry, base: Root): Promise<boolean> {
    const { tree } = this.#in;
    await this.#rooted();
    return identical(tree.frozen, from) && swap(tree, from.key, mine, base);
  }

  /** All that has happened so far is durable when it resolves. */
  sync(): PromiseLike<void> {
    return this.#in.store.sync();
  }

  /** Trees are exchanged when no crash can bring back the one of before the last freeze. */
  async #rooted(): Promise<void> {
    const { store } = this.#in;
    await this.#unfrozen();
    if (!store.isRooted) await store.sync();
    if (!store.isRooted) (await this.freeze(false)).release();
  }

  async #unfrozen(): Promise<void> {
    while (this.#in.store.isFreezing) await this.#in.store.lastFreeze.catch(() => {});
  }
}

import type { ByteString } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { HeldDirectories } from '../../host-tree/held-directories.ts';
import { HostTree } from '../../host-tree/host-tree.ts';
import { KeptDirectories } from './kept-directories.ts';
import { LeavingPaths } from './leaving-paths.ts';

/** Base paths of one codebase that are being replaced, with the number of replacements in progress. */
export type ChangingPaths = Map<ByteString, number>;

interface Codebase {
  changing: ChangingPaths;
  /** See `stateOf`. */
  state: number;
  /** By root, with the number of workspaces that use the tree. */
  trees: Map<string, { tree: HostTree; users: number }>;
  kept: KeptDirectories;
  leaving: LeavingPaths;
}

/** The host trees of all codebases with open workspaces. Workspaces of one codebase share its open directories. */
export class BaseTrees {
  readonly #held: HeldDirectories;
  readonly #codebases = new Map<string, Codebase>();
  #lastState = 0;

  /** `limit`: number of directories kept open. */
  constructor(limit: number) {
    this.#held = new HeldDirectories(limit);
  }

  /**
   * Returns the tree of a codebase. The caller calls `release` when it no longer needs the tree. Throws if the root
   * does not exist.
   */
  use(codebaseId: string, root: string): HostTree {
    const { changing, trees } = this.#codebase(codebaseId);
    const known = trees.get(root) ?? { tree: new HostTree(root, this.#held, changing), users: 0 };
    known.users++;
    trees.set(root, known);
    return known.tree;
  }

  /** Gives up one use of a tree; the last one closes it. */
  release(codebaseId: string, root: string): void {
    const { trees } = this.#codebase(codebaseId);
    const known = trees.get(root);
    if (known === undefined || --known.users > 0) return;
    trees.delete(root);
    known.tree.close();
  }

  /** The paths of a codebase that are being replaced; updated in place. */
  changingOf(codebaseId: string): ChangingPaths {
    return this.#codebase(codebaseId).changing;
  }

  /** The paths that a change of the codebase removes; updated in place. */
  leavingOf(codebaseId: string): LeavingPaths {
    return this.#codebase(codebaseId).leaving;
  }

  /**
   * Returns a number that identifies the present state of a codebase's files: another one after each change, and while
   * one is in progress. No two codebases have the same.
   */
  stateOf(codebaseId: string): number {
    return this.#codebase(codebaseId).state;
  }

  /** That state, with the paths that are being replaced. */
  presentOf(codebaseId: string): { readonly state: number; readonly changing: ChangingPaths } {
    return this.#codebase(codebaseId);
  }

  /** Called before paths are replaced; ended by one `endChange` for each call. */
  *beginChange(codebaseId: string, paths: readonly ByteString[]): Steps<void> {
    this.#beginChange(codebaseId, paths);
    const { kept, trees } = this.#codebase(codebaseId);
    yield* kept.begin(onlyTree(trees), paths);
  }

  /**
   * Called after paths were replaced, or failed to be. `ended` is called as soon as the codebase has its next state.
   * Returns the directories above the paths that the change kept.
   */
  *endChange(codebaseId: string, paths: readonly ByteString[], ended: () => void): Steps<ReadonlySet<ByteString>> {
    this.#endChange(codebaseId, paths);
    ended();
    const { kept, trees } = this.#codebase(codebaseId);
    return yield* kept.end(onlyTree(trees), paths);
  }

  #beginChange(codebaseId: string, paths: readonly ByteString[]): void {
    const { changing, trees } = this.#changed(codebaseId);
    for (const path of paths) changing.set(path, (changing.get(path) ?? 0) + 1);
    for (const { tree } of trees.values()) tree.release();
  }

  #endChange(codebaseId: string, paths: readonly ByteString[]): void {
    const { changing, trees } = this.#changed(codebaseId);
    // The matching `beginChange` was not received if the file system was mounted in between.
    for (const path of paths) if (!changing.has(path)) changing.set(path, 1);
    for (const { tree } of trees.values()) tree.release();
    for (const path of paths) {
      const left = (changing.get(path) ?? 1) - 1;
      if (left > 0) changing.set(path, left);
      else changing.delete(path);
    }
  }

  #changed(id: string): Codebase {
    const codebase = this.#codebase(id);
    codebase.state = ++this.#lastState;
    return codebase;
  }

  #codebase(id: string): Codebase {
    const known = this.#codebases.get(id);
    if (known !== undefined) return known;
    const codebase: Codebase = {
      changing: new Map(),
      state: ++this.#lastState,
      trees: new Map(),
      kept: new KeptDirectories(),
      leaving: new LeavingPaths(),
    };
    this.#codebases.set(id, codebase);
    return codebase;
  }
}

/** The tree of a codebase whose open workspaces all have the same base. */
function onlyTree(trees: Codebase['trees']): HostTree | undefined {
  if (trees.size !== 1) return undefined;
  for (const { tree } of trees.values()) return tree;
}

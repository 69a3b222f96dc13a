import type { ByteString } from '../../byte-string.ts';
import { HeldDirectories } from '../../host-tree/held-directories.ts';
import { HostTree } from '../../host-tree/host-tree.ts';

/** Base paths of one codebase that are being replaced, with how many replacements are under way. */
export type ChangingPaths = Map<ByteString, number>;

interface Codebase {
  changing: ChangingPaths;
  /** By root, with the number of workspaces that use each. */
  trees: Map<string, { tree: HostTree; users: number }>;
}

/** The trees of all codebases that open workspaces lie on. Workspaces on one codebase share its open directories. */
export class BaseTrees {
  readonly #held: HeldDirectories;
  readonly #codebases = new Map<string, Codebase>();

  /** `limit`: directories open at once. */
  constructor(limit: number) {
    this.#held = new HeldDirectories(limit);
  }

  /** The caller calls `release` when it needs the tree no more. Throws when the root is not there. */
  use(codebaseId: string, root: string): HostTree {
    const { changing, trees } = this.#codebase(codebaseId);
    const known = trees.get(root) ?? { tree: new HostTree(root, this.#held, changing), users: 0 };
    known.users++;
    trees.set(root, known);
    return known.tree;
  }

  release(codebaseId: string, root: string): void {
    const { trees } = this.#codebase(codebaseId);
    const known = trees.get(root);
    if (known === undefined || --known.users > 0) return;
    trees.delete(root);
    known.tree.close();
  }

  changingOf(codebaseId: string): ChangingPaths {
    return this.#codebase(codebaseId).changing;
  }

  /** Before the paths change, until as many calls of `changed`. */
  willChange(codebaseId: string, paths: readonly ByteString[]): void {
    const { changing, trees } = this.#codebase(codebaseId);
    for (const path of paths) changing.set(path, (changing.get(path) ?? 0) + 1);
    for (const { tree } of trees.values()) tree.release();
  }

  changed(codebaseId: string, paths: readonly ByteString[]): void {
    const { changing, trees } = this.#codebase(codebaseId);
    // A file system that was mounted in between was not told before.
    for (const path of paths) if (!changing.has(path)) changing.set(path, 1);
    for (const { tree } of trees.values()) tree.release();
    for (const path of paths) {
      const left = (changing.get(path) ?? 1) - 1;
      if (left > 0) changing.set(path, left);
      else changing.delete(path);
    }
  }

  #codebase(id: string): Codebase {
    const known = this.#codebases.get(id);
    if (known !== undefined) return known;
    const codebase: Codebase = { changing: new Map(), trees: new Map() };
    this.#codebases.set(id, codebase);
    return codebase;
  }
}

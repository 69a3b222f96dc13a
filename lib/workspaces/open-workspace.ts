import type { Notifier } from '../fuse/filesystem.ts';
import type { Base } from './base/base.ts';
import type { BaseTrees } from './base/base-trees.ts';
import type { Delta } from './delta/delta.ts';
import type { LayeredNodeTree } from './nodes/layered-node-tree.ts';

/** A workspace whose delta has been read. */
export interface OpenWorkspace {
  readonly base: Base;
  readonly delta: Delta;
  readonly tree: LayeredNodeTree;
  /** A directory was renamed since the changes were listed for a commit. */
  hasMoved: boolean;
  /** A directory that shows one of the codebase was moved since the codebase lost files last. */
  hasMovedOfBase: boolean;
  /** Incremented by every change of names or rules. */
  generation: number;
  /**
   * The state of the codebase (`BaseTrees.stateOf`) for which no directory record is left whose base directory is gone;
   * undefined: unknown.
   */
  fittedTo: number | undefined;
  /**
   * It is opened to be rebased for a commit of an earlier server, which the base has: until then, a directory with the former
   * mode of the base may be one whose mode was changed back since.
   */
  awaitsRebase: boolean;
  readonly spec: { readonly codebaseId: string };
  readonly shared: { readonly notifier: Notifier; readonly bases: Pick<BaseTrees, 'stateOf'> };
}

import type { Notifier } from '../fuse/filesystem.ts';
import type { Base } from './base/base.ts';
import type { Delta } from './delta/delta.ts';
import type { NodeTree } from './nodes/node-tree.ts';

/** A workspace whose delta has been read. */
export interface OpenWorkspace {
  readonly base: Base;
  readonly delta: Delta;
  readonly tree: NodeTree;
  /** Incremented by every change of names or rules. */
  generation: number;
  readonly shared: { readonly notifier: Notifier };
}

import { S_IFDIR } from '../linux/mode.ts';
import type { Engine } from './engine.ts';
import { TreeNode } from './nodes/tree-node.ts';
import { treeFiles } from './stored/tree-files.ts';
import { type OpenTree, TreeWorkspace } from './tree-workspace.ts';
import type { Workspace } from './workspace.ts';

/** Workspaces that are live trees of objects. */
export function treeEngine(open: OpenTree): Engine {
  return {
    directory: (id) => new TreeNode<Workspace>(id, undefined, S_IFDIR),
    workspace: (spec, shared, place) =>
      new TreeWorkspace(spec, shared, { open, stored: treeFiles, place: place as TreeNode | undefined }),
  };
}

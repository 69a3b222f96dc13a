import type { TreeWorkspace } from '../tree-workspace.ts';
import type { StoredFiles } from './stored-files.ts';
import { TreeChanges } from './tree-changes.ts';
import { StoredTreeContents } from './tree-contents.ts';
import { TreeListings } from './tree-listings.ts';
import { TreeNames } from './tree-names.ts';

/** The files of a workspace that is a live tree of objects. */
export function treeFiles(workspace: TreeWorkspace): StoredFiles {
  const changes = new TreeChanges(workspace);
  return {
    names: new TreeNames(workspace, changes),
    contents: new StoredTreeContents(workspace, changes),
    listings: new TreeListings(workspace),
  };
}

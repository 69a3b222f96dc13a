import type { ByteString } from '../filesystem.ts';
import { type BaseStat, joinPath } from './base.ts';
import { isDirectory, S_IFMT } from './mode.ts';
import type { Node } from './node.ts';
import type { Workspace } from './workspace.ts';

/**
 * After the delta let go of a name: the nodes the kernel knows there, and below, show the base from now on. One that has
 * nothing to show, or would have to show something of another kind, lives on for those who have it open. `known`: what
 * the base has by that name, when the caller has looked.
 */
export function showBase(
  workspace: Workspace,
  dir: Node,
  name: ByteString,
  known?: { stat: BaseStat | undefined },
): void {
  const { base, tree, shared, delta } = workspace;
  const path = dir.basePath === undefined ? undefined : joinPath(dir.basePath, name);
  const stat = known !== undefined ? known.stat : path === undefined ? undefined : base.lstat(path);
  const node = dir.children?.get(name);
  if (stat === undefined) dir.listing?.remove(name);
  else dir.listing?.add(name, stat.mode & S_IFMT);
  shared.notifier.invalInode(dir.id);
  if (node === undefined) {
    shared.notifier.invalEntry(dir.id, name);
    return;
  }
  const same = stat !== undefined && (stat.mode & S_IFMT) === node.type;
  if (same && isDirectory(stat.mode)) {
    tree.uncopied(node, path!, stat);
    node.listing = undefined;
    for (const below of [...(node.children?.keys() ?? [])]) showBase(workspace, node, below);
  } else if (same && node.links.length === 1 && (node.inode?.names ?? 0) === 0 && stat.nlink === 1) {
    const { inode } = node;
    tree.uncopied(node, path!, stat);
    node.ruledLevel = dir.ruled!.child(name).level;
    if (inode !== undefined) delta.release(inode);
  } else {
    letGo(workspace, node);
    tree.detach(node, dir, name);
    shared.notifier.invalEntry(dir.id, name);
  }
  shared.notifier.invalInode(node.id);
}

/** A directory that is gone has nothing in it. */
function letGo(workspace: Workspace, dir: Node): void {
  for (const [name, child] of [...(dir.children ?? [])]) {
    letGo(workspace, child);
    workspace.tree.detach(child, dir, name);
    workspace.shared.notifier.invalEntry(dir.id, name);
  }
}

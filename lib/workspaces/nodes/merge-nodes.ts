import type { ByteString } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { mergedBase } from '../base/merged-base.ts';
import { showBase } from '../history/show-base.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { LayeredNode } from './layered-node.ts';

/**
 * Updates nodes after directories were added to, or removed from, the base at paths where the sandbox made directories:
 * of `names` in a directory and everything below, the known nodes show what they merge with now.
 */
export function* mergeNodes(workspace: LayeredWorkspace, top: LayeredNode, names: Iterable<ByteString>): Steps<void> {
  const waiting: [LayeredNode, Iterable<ByteString>][] = [[top, names]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [parent, below] = next;
    for (const name of below) {
      yield;
      const node = parent.children?.get(name);
      const inode = node?.inode;
      if (node === undefined || inode === undefined || inode.origin !== undefined || !inode.merges) continue;
      if (yield* show(workspace, parent, name, node)) waiting.push([node, [...(node.children?.keys() ?? [])]]);
    }
  }
}

/** Updates one node. Returns false if it shows the right directory already. */
function* show(workspace: LayeredWorkspace, parent: LayeredNode, name: ByteString, node: LayeredNode): Steps<boolean> {
  const { base, tree, shared } = workspace;
  const path = mergedBase(base, node.inode!, parent.basePath, name);
  if (path === node.basePath) return false;
  if (path === undefined) tree.binding.unmerge(node);
  else tree.binding.mergeWith(node, path, base.lstat(path)!);
  node.outdateListing();
  node.misses = 0;
  shared.notifier.invalInode(node.id);
  const { entries } = node.inode!;
  for (const each of [...(node.children?.keys() ?? [])]) {
    if (!entries!.has(each)) yield* showBase(workspace, node, each);
  }
  return true;
}

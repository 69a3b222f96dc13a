import type { ByteString } from '../../byte-string.ts';
import { MERGES, OPAQUE, type Op } from '../delta/index/records.ts';
import { isBelow, renamedDirectories } from '../history/renamed-directories.ts';
import { letGo } from '../history/show-base.ts';
import { parentOf } from '../nodes/path-memo.ts';
import type { Workspace } from '../workspace.ts';

/**
 * Directories that the sandbox renamed show nothing of the base any more when their base directory is at or below one of
 * `removed`: whatever comes to be at that path later is another directory, or no directory. They are as if made anew then.
 */
export function endOrigins(workspace: Workspace, removed: readonly ByteString[]): void {
  const paths = new Set(removed);
  const { delta, tree, shared } = workspace;
  const renamed = renamedDirectories(workspace).filter(({ origin }) => origin !== undefined);
  const ended = renamed.filter(({ origin }) => isAtOrBelow(origin!, paths));
  if (ended.length === 0) return;
  const tops = new Set(renamed.map(({ path }) => path));
  delta.commit(
    // In another renamed directory, the name would lead to the same place of the base again.
    ended.map(({ id, path, replaces }): Op => ['origin', id, replaces || isBelow(path, tops) ? OPAQUE : MERGES]),
    true,
  );
  for (const { id } of ended) {
    const inode = delta.table.get(id);
    const node = inode && tree.nodeOf(inode);
    if (node === undefined) continue;
    for (const [name, child] of [...(node.children ?? [])]) {
      if (child.inode !== undefined) continue;
      letGo(workspace, child);
      tree.detach(child, node, name);
      shared.notifier.invalEntry(node.id, name);
    }
    tree.unmerged(node);
    shared.notifier.invalInode(node.id);
  }
}

function isAtOrBelow(path: ByteString, paths: ReadonlySet<ByteString>): boolean {
  for (let at = path; at !== ''; at = parentOf(at)) if (paths.has(at)) return true;
  return false;
}

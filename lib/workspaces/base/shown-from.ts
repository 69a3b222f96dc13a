import { type ByteString, joinPath, ROOT_PATH, splitPath } from '../../byte-string.ts';
import { WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import { mergedBase } from './merged-base.ts';

/**
 * Returns the base path that a workspace path shows, or would show: a different one below a renamed directory. Returns
 * undefined if the path is the sandbox's own or removed by it.
 */
export function shownFrom(workspace: LayeredWorkspace, path: ByteString): ByteString | undefined {
  let dir = workspace.delta.table.get(ROOT_ID);
  let basePath: ByteString | undefined = ROOT_PATH;
  for (const name of splitPath(path)) {
    const entry = dir?.entries?.get(name);
    if (entry === WHITEOUT) return undefined;
    if (entry !== undefined)
      basePath = entry.isDirectory ? mergedBase(workspace.base, entry, basePath, name) : undefined;
    else if (basePath !== undefined) basePath = joinPath(basePath, name);
    dir = entry;
  }
  return dir === undefined ? basePath : undefined;
}

import { type ByteString, fromBuffer, joinPath } from '../../byte-string.ts';
import type { BaseStat } from '../base/base.ts';
import { mergedBase } from '../base/merged-base.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';

/** What the sandbox has at a path: an inode of the delta, or a base entry (possibly below a renamed directory). */
export interface Present {
  inode: Inode | undefined;
  base: BaseStat | undefined;
  /** Its path in the base, or the base directory that it is merged with. */
  basePath: ByteString | undefined;
}

/** Returns what the sandbox has by a name in a directory, if anything. */
export function presentAt(workspace: LayeredWorkspace, dir: Present, name: ByteString): Present | undefined {
  const entry = dir.inode?.entries?.get(name);
  if (entry === WHITEOUT) return undefined;
  if (entry !== undefined) {
    return { inode: entry, base: undefined, basePath: mergedBase(workspace.base, entry, dir.basePath, name) };
  }
  if (dir.basePath === undefined) return undefined;
  const basePath = joinPath(dir.basePath, name);
  const base = workspace.base.lstat(basePath);
  return base && { inode: undefined, base, basePath };
}

export function modeOf({ inode, base }: Present): number {
  return (inode ?? base!).mode;
}

/** Returns the target of a symlink. */
export function targetOf(workspace: LayeredWorkspace, { inode, basePath }: Present): ByteString {
  return inode === undefined ? fromBuffer(workspace.base.readlink(basePath!)) : inode.target!;
}

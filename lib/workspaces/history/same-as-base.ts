import { type ByteString, fromBuffer } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { S_IFLNK, S_IFMT, S_IFREG } from '../../linux/mode.ts';
import { type BaseStat, sameFile } from '../base/base.ts';
import { Damage } from '../delta/damage.ts';
import type { Inode } from '../delta/index/inode.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import { modeOf, type Present, targetOf } from './present.ts';
import { bytesSource, fileSource, type Source, sameContents } from './same-contents.ts';

export const PERMISSIONS = 0o777;

/** Whether type and contents are equal. `sameBytes`: that of two files of equal size, if it is known. */
export function* isSame(
  workspace: LayeredWorkspace,
  path: ByteString,
  now: Present,
  was: BaseStat,
  sameBytes?: boolean,
): Generator<undefined, boolean, void> {
  const type = modeOf(now) & S_IFMT;
  if (type !== (was.mode & S_IFMT)) return false;
  if (type === S_IFLNK) return targetOf(workspace, now) === fromBuffer(workspace.base.readlink(path));
  if (type !== S_IFREG) return true;
  if (now.base !== undefined && sameFile(now.base, was)) return true;
  if ((now.inode ?? now.base!).size !== was.size) return false;
  if (sameBytes !== undefined) return sameBytes;
  try {
    if (was.size === 0) return true;
    return yield* sameContents(sourceOf(workspace, now), baseSource(workspace, path, was), was.size);
  } catch (error) {
    // Unreadable contents differ from the base's.
    if (error instanceof Damage) return false;
    throw error;
  }
}

/** Whether the permission bits are equal; those of a symlink have no meaning. */
export function sameMode(now: number, was: number): boolean {
  const bits = (was & S_IFMT) === S_IFLNK ? S_IFMT : S_IFMT | PERMISSIONS;
  return (now & bits) === (was & bits);
}

/** Whether the base has the same as the inode at a path: type, contents, and permission bits except of a symlink. */
export function* comparedWithBase(
  workspace: LayeredWorkspace,
  path: ByteString,
  inode: Inode,
  was: BaseStat,
): Steps<boolean, undefined> {
  return mayBeAsInBase(inode, was) && (yield* isBaseAt(workspace, path, inode, was));
}

/** As `comparedWithBase`, also of a text with placeholders: whether the base has them as they are. */
export function* isBaseAt(
  workspace: LayeredWorkspace,
  path: ByteString,
  inode: Inode,
  was: BaseStat,
): Steps<boolean, undefined> {
  if (!sameMode(inode.mode, was.mode)) return false;
  return yield* isSame(workspace, path, { inode, base: undefined, basePath: undefined }, was);
}

/** As `comparedWithBase`, without comparing contents. */
export function mayBeAsInBase(inode: Inode, was: BaseStat): boolean {
  // A text with placeholders is another one, whatever a commit makes of it.
  if (inode.isAgentText) return false;
  return sameMode(inode.mode, was.mode) && ((was.mode & S_IFMT) !== S_IFREG || inode.size === was.size);
}

function sourceOf(workspace: LayeredWorkspace, { inode, base, basePath }: Present): Source {
  return inode === undefined ? baseSource(workspace, basePath!, base!) : inodeSource(workspace, inode);
}

export function inodeSource({ delta }: LayeredWorkspace, inode: Inode): Source {
  return inode.hasFile ? fileSource(() => delta.openFile(inode)) : () => bytesSource(delta.small(inode));
}

export function baseSource(workspace: LayeredWorkspace, path: ByteString, stat: BaseStat): Source {
  return fileSource(() => workspace.base.open(path, stat));
}

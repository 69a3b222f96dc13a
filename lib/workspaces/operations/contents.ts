import { toBuffer } from '../../byte-string.ts';
import { AnsweredLater } from '../../fuse/filesystem.ts';
import { EACCES, EFBIG, EINVAL, EISDIR } from '../../linux/errno.ts';
import { S_IFLNK, S_IFREG, S_ISGID, S_ISUID, withoutSetid } from '../../linux/mode.ts';
import { isZero } from '../../linux/sparse-files.ts';
import { REDACTED } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import { markPaged } from '../access/pending-invalidations.ts';
import { requireVisible } from '../access/visibility.ts';
import type { Inode } from '../delta/index/inode.ts';
import { Change } from '../history/change.ts';
import type { Node } from '../nodes/node.ts';
import { leaveText, requireChangeable } from '../redacted/agent-text.ts';
import { isRedacted, redactedForm } from '../redacted/redacted-file.ts';
import type { Workspace } from '../workspace.ts';
import { dataFd, readOriginal } from './original.ts';

/** Largest file size in bytes: that of ext4, the same on every host. Holes count for no quota. */
const MAX_SIZE = 2 ** 44 - 4096;
/** Blocks of a file that are looked at for zeros. */
const BLOCK = 4096;

/**
 * READ: reads up to `into.length` bytes at byte `offset` and returns the number of bytes read. Throws EACCES without
 * READ, EISDIR or EINVAL for other file types, ESTALE if the base file was replaced, host errors, and Postponed while a
 * large file is redacted.
 */
export function read(workspace: Workspace, access: Access, node: Node, offset: number, into: Buffer): number {
  requireReadable(access, node);
  markPaged(workspace, node);
  return readContents(workspace, access, node, offset, into);
}

/** Throws EACCES without READ, be it REDACTED, EISDIR or EINVAL for other file types. */
export function requireReadable(access: Access, node: Node): void {
  requireFile(node);
  if (access.level(node) < REDACTED) throw EACCES;
}

/** As `read`, not for the kernel: it caches no pages. */
export function readContents(workspace: Workspace, access: Access, node: Node, offset: number, into: Buffer): number {
  requireReadable(access, node);
  if (!isRedacted(access, node)) return readOriginal(workspace, node, offset, into);
  const { bytes } = redactedForm(workspace, node);
  return bytes.subarray(offset, offset + into.length).copy(into);
}

/** READLINK. Throws EINVAL for other file types, ENOENT or ESTALE for a hidden node, EACCES without READ. */
export function readlink(workspace: Workspace, access: Access, node: Node): Buffer {
  if (node.type !== S_IFLNK) throw EINVAL;
  requireVisible(access, node);
  if (access.level(node) < REDACTED) throw EACCES;
  markPaged(workspace, node);
  if (node.inode !== undefined) return toBuffer(node.inode.target!);
  return workspace.base.readlink(node.requireBasePath());
}

/**
 * WRITE: writes `data` at byte `offset` and returns the number of bytes written. The first write copies a base file up.
 * Throws EACCES without WRITE, EISDIR or EINVAL for other file types, EFBIG, EDQUOT and host errors; Postponed while a
 * large file is copied up.
 */
export function write(
  workspace: Workspace,
  access: Access,
  node: Node,
  offset: number,
  data: Buffer,
  killSuidgid: boolean,
): number {
  requireFile(node);
  requireChangeable(workspace, access, node);
  markPaged(workspace, node);
  const end = offset + data.length;
  if (end > MAX_SIZE) throw EFBIG;
  const inode = ownInode(workspace, node);
  leaveText(workspace, node, inode);
  workspace.delta.claims.write(inode, offset, end, (from, to) => emptyBlocks(workspace, node, from, to));
  if (killSuidgid) dropSetid(workspace, node, inode);
  thaw(workspace, node, inode, true);
  workspace.warnReaders();
  try {
    return workspace.delta.write(inode, offset, data, () => dataFd(workspace, node, inode));
  } finally {
    workspace.countChange();
  }
}

/** Bytes of the blocks from byte `from` to `to` that have only zeros, or are beyond the end: holes cannot be told from them. */
function emptyBlocks(workspace: Workspace, node: Node, from: number, to: number): number {
  const bytes = Buffer.alloc(to - from);
  readOriginal(workspace, node, from, bytes);
  let empty = 0;
  for (let at = 0; at < bytes.length; at += BLOCK) if (isZero(bytes.subarray(at, at + BLOCK))) empty += BLOCK;
  return empty;
}

/** Sets the size, in bytes, of a file in the delta. Throws EFBIG, EDQUOT and host errors. */
export function truncate(workspace: Workspace, node: Node, inode: Inode, size: number): void {
  if (size > MAX_SIZE) throw EFBIG;
  const { delta } = workspace;
  // Truncating a file that a checkpoint shares frees no space, but must be possible at a full quota.
  if (size > inode.size) delta.claims.write(inode, size, size);
  thaw(workspace, node, inode, size > 0);
  workspace.warnReaders();
  try {
    delta.truncate(inode, size, () => dataFd(workspace, node, inode));
  } finally {
    workspace.countChange();
  }
}

function thaw(workspace: Workspace, node: Node, inode: Inode, contents: boolean): void {
  if (workspace.delta.thaw(inode, contents)) workspace.shared.files.close(node);
}

/**
 * FSYNC and FSYNCDIR: makes contents and the journal durable, which has the entries of directories. Does nothing for
 * files and directories of the base. Throws AnsweredLater, and host errors.
 */
export function fsync(workspace: Workspace, node: Node, datasync: boolean): void {
  const { inode } = node;
  // An unchanged file or directory is the codebase's, which is durable.
  if (inode === undefined) return;
  const cause = workspace.delta.syncs.syncFile(inode, datasync);
  if (cause !== undefined) throw new AnsweredLater(cause);
}

/**
 * Returns the node's inode in the delta; copies the node up if necessary, without its contents if `contents` is false.
 */
export function ownInode(workspace: Workspace, node: Node, contents = true): Inode {
  // Without contents the file is about to be truncated, which frees space.
  if (node.inode === undefined) Change.make(workspace, (change) => change.node(node, contents), !contents);
  return node.inode!;
}

/** Throws EISDIR for a directory and EINVAL for any other node that is no regular file. */
export function requireFile(node: Node): void {
  if (node.type === S_IFREG) return;
  throw node.isDirectory ? EISDIR : EINVAL;
}

function dropSetid(workspace: Workspace, node: Node, inode: Inode): void {
  if ((inode.mode & (S_ISUID | S_ISGID)) === 0) return;
  const mode = withoutSetid(inode.mode);
  if (mode !== inode.mode) Change.make(workspace, (change) => change.attr(node, { ...attributes(inode), mode }));
}

/** Returns the attributes of an inode that SETATTR can change. */
export function attributes(of: Inode): Pick<Inode, 'mode' | 'uid' | 'gid' | 'atime' | 'mtime' | 'ctime'> {
  const { mode, uid, gid, atime, mtime, ctime } = of;
  return { mode, uid, gid, atime, mtime, ctime };
}

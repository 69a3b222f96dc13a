import { AnsweredLater } from '../../fuse/filesystem.ts';
import { EACCES, EFBIG, EINVAL, EISDIR } from '../../linux/errno.ts';
import { S_IFLNK, S_IFREG, S_ISGID, S_ISUID, withoutSetid } from '../../linux/mode.ts';
import { REDACTED } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import { markPaged } from '../access/pending-invalidations.ts';
import { requireVisible } from '../access/visibility.ts';
import type { Node } from '../nodes/node.ts';
import { leaveText, requireChangeable } from '../redacted/agent-text.ts';
import { isRedacted, redactedForm } from '../redacted/redacted-file.ts';
import type { FileAttributes } from '../stored/stored-files.ts';
import type { Workspace } from '../workspace.ts';

/** Largest file size in bytes: that of ext4, the same on every host. Holes count for no quota. */
const MAX_SIZE = 2 ** 44 - 4096;

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
  if (!isRedacted(access, node)) return workspace.stored.contents.read(node, offset, into);
  const { bytes } = redactedForm(workspace, node);
  return bytes.subarray(offset, offset + into.length).copy(into);
}

/** READLINK. Throws EINVAL for other file types, ENOENT or ESTALE for a hidden node, EACCES without READ. */
export function readlink(workspace: Workspace, access: Access, node: Node): Buffer {
  if (node.type !== S_IFLNK) throw EINVAL;
  requireVisible(access, node);
  if (access.level(node) < REDACTED) throw EACCES;
  markPaged(workspace, node);
  return workspace.stored.contents.target(node);
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
  if (offset + data.length > MAX_SIZE) throw EFBIG;
  const { contents } = workspace.stored;
  contents.makeOwn(node, true);
  leaveText(workspace, node);
  if (killSuidgid) dropSetid(workspace, node);
  return contents.write(node, offset, data);
}

/** Sets the size, in bytes, of a regular file. Throws EFBIG, EDQUOT and host errors. */
export function truncate(workspace: Workspace, node: Node, size: number): void {
  if (size > MAX_SIZE) throw EFBIG;
  const { contents } = workspace.stored;
  contents.makeOwn(node, size > 0);
  contents.truncate(node, size);
}

/**
 * FSYNC and FSYNCDIR: makes contents and the journal durable, which has the entries of directories. Does nothing for
 * files and directories of the base. Throws AnsweredLater, and host errors.
 */
export function fsync({ stored }: Workspace, node: Node, datasync: boolean): void {
  const cause = stored.contents.sync(node, datasync);
  if (cause !== undefined) throw new AnsweredLater(cause);
}

/** Throws EISDIR for a directory and EINVAL for any other node that is no regular file. */
export function requireFile(node: Node): void {
  if (node.type === S_IFREG) return;
  throw node.isDirectory ? EISDIR : EINVAL;
}

function dropSetid({ stored }: Workspace, node: Node): void {
  const { mode } = node.shown;
  if ((mode & (S_ISUID | S_ISGID)) === 0) return;
  const to = { ...attributesOf(node), mode: withoutSetid(mode) };
  if (to.mode !== mode) stored.names.setAttributes(node, to, false);
}

/** What SETATTR can change. */
export function attributesOf({ shown: { mode, uid, gid, atime, mtime, ctime } }: Node): FileAttributes {
  return { mode, uid, gid, atime, mtime, ctime };
}

import { EACCES, EFBIG, EINVAL, EISDIR } from '../../linux/errno.ts';
import { S_IFLNK, S_IFREG, S_ISGID, S_ISUID, withoutSetid } from '../../linux/mode.ts';
import { READ, WRITE } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import { markPaged } from '../access/pending-invalidations.ts';
import { requireVisible } from '../access/visibility.ts';
import { readFile } from '../delta/contents/host-io.ts';
import type { Inode } from '../delta/index/inode.ts';
import { Change } from '../history/change.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';

/** Larger offsets are no exact numbers here; no host file system has them either. */
const MAX_SIZE = Number.MAX_SAFE_INTEGER;

export function read(workspace: Workspace, access: Access, node: Node, offset: number, into: Buffer): number {
  requireFile(node);
  if (access.level(node) < READ) throw EACCES;
  markPaged(workspace, node);
  const { inode } = node;
  if (inode === undefined) return readFile(baseFd(workspace, node), offset, into);
  return workspace.delta.read(inode, offset, into, () => dataFd(workspace, node, inode));
}

export function readlink(workspace: Workspace, access: Access, node: Node): Buffer {
  if (node.type !== S_IFLNK) throw EINVAL;
  requireVisible(access, node);
  if (access.level(node) < READ) throw EACCES;
  markPaged(workspace, node);
  if (node.inode !== undefined) return Buffer.from(node.inode.target!, 'latin1');
  return workspace.base.readlink(node.basePath!);
}

export function write(
  workspace: Workspace,
  access: Access,
  node: Node,
  offset: number,
  data: Buffer,
  killSuidgid: boolean,
): number {
  requireFile(node);
  if (access.level(node) < WRITE) throw EACCES;
  markPaged(workspace, node);
  const end = offset + data.length;
  if (end > MAX_SIZE) throw EFBIG;
  const inode = ownInode(workspace, node);
  workspace.delta.claimWrite(inode, end);
  if (killSuidgid) dropSetid(workspace, node, inode);
  thaw(workspace, node, inode, true);
  try {
    return workspace.delta.write(inode, offset, data, () => dataFd(workspace, node, inode));
  } finally {
    workspace.countChange();
  }
}

/** Sets the size of a file that is in the delta already. */
export function truncate(workspace: Workspace, node: Node, inode: Inode, size: number): void {
  if (size > MAX_SIZE) throw EFBIG;
  const { delta } = workspace;
  // What is cut off a file that a checkpoint has is no room that is freed, but neither may a full quota keep it there.
  if (size > inode.size) delta.claimWrite(inode, size);
  thaw(workspace, node, inode, size > 0);
  try {
    delta.truncate(inode, size, () => dataFd(workspace, node, inode));
  } finally {
    workspace.countChange();
  }
}

function thaw(workspace: Workspace, node: Node, inode: Inode, contents: boolean): void {
  if (workspace.delta.thaw(inode, contents)) workspace.shared.files.close(node);
}

export function fsync(workspace: Workspace, node: Node, datasync: boolean): void {
  const { inode } = node;
  // What nobody changed lies on the disk; names and attributes are the journal's.
  if (inode === undefined) return;
  workspace.delta.syncInode(inode, datasync);
}

/** The node's inode in the delta, copied up with its contents if need be. */
export function ownInode(workspace: Workspace, node: Node, contents = true): Inode {
  // Who wants no contents is about to throw them away: that makes room.
  if (node.inode === undefined) Change.make(workspace, (change) => change.node(node, contents), !contents);
  return node.inode!;
}

export function requireFile(node: Node): void {
  if (node.type === S_IFREG) return;
  throw node.isDirectory ? EISDIR : EINVAL;
}

function dropSetid(workspace: Workspace, node: Node, inode: Inode): void {
  if ((inode.mode & (S_ISUID | S_ISGID)) === 0) return;
  const mode = withoutSetid(inode.mode);
  if (mode !== inode.mode) Change.make(workspace, (change) => change.attr(node, { ...attributes(inode), mode }));
}

export function attributes(of: Inode): Pick<Inode, 'mode' | 'uid' | 'gid' | 'atime' | 'mtime' | 'ctime'> {
  const { mode, uid, gid, atime, mtime, ctime } = of;
  return { mode, uid, gid, atime, mtime, ctime };
}

function baseFd(workspace: Workspace, node: Node): number {
  const { base, shared } = workspace;
  return shared.files.of(node, () => base.open(node.basePath!, node.base!));
}

function dataFd(workspace: Workspace, node: Node, inode: Inode): number {
  return workspace.shared.files.of(node, () => workspace.delta.openFile(inode));
}

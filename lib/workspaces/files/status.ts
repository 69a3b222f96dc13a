import { type ByteString, fromBuffer } from '../../byte-string.ts';
import { S_IFLNK, S_IFREG } from '../../linux/mode.ts';
import { READ } from '../../permissions/index.ts';
import { ownershipOf } from '../access/attr.ts';
import type { Node } from '../nodes/node.ts';
import { readlink } from '../operations/contents.ts';
import type { FileStatus } from '../workspace-files.ts';
import type { FileRequest } from './file-request.ts';

const EPOCH = { sec: 0, nsec: 0 };

/** Returns the attributes of a node, as stat(2) and readlink(2) show them to this caller. */
export function statusOf({ workspace, access }: FileRequest, node: Node, path: ByteString): FileStatus {
  const of = node.shown;
  const isLink = node.type === S_IFLNK;
  return {
    path,
    mode: ownershipOf(workspace, access, node).mode,
    size: node.type === S_IFREG || isLink ? of.size : 0,
    // The time of a hidden directory, which is visible only as a parent, is not revealed.
    mtime: node.isDirectory && access.level(node) === 0 ? EPOCH : of.mtime,
    ...(isLink && access.level(node) >= READ && { target: fromBuffer(readlink(workspace, access, node)) }),
    level: node.agentLevel,
  };
}

/** Returns a version that differs whenever contents, size or mode of a file differ. */
export function versionOf({ inode, base }: Node): string {
  const { mode, size, mtime } = inode ?? base!;
  const which = inode === undefined ? `b${base!.dev}-${base!.ino}` : `d${inode.id}-${inode.writes}`;
  return `${which}-${mode.toString(8)}-${size}-${mtime.sec}-${mtime.nsec}`;
}

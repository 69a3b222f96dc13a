import type { ByteString } from '../../byte-string.ts';
import { S_IFLNK, S_IFREG } from '../../linux/mode.ts';
import { READ } from '../../permissions/index.ts';
import { ownershipOf } from '../access/attr.ts';
import type { Node } from '../nodes/node.ts';
import { readlink } from '../operations/contents.ts';
import type { FileStatus } from '../workspace-files.ts';
import type { Visit } from './visit.ts';

const LONG_AGO = { sec: 0, nsec: 0 };

/** What stat(2) and readlink(2) would tell, of what a caller of the service asks for. */
export function statusOf({ workspace, access }: Visit, node: Node, path: ByteString): FileStatus {
  const of = node.inode ?? node.base!;
  const isLink = node.type === S_IFLNK;
  return {
    path,
    mode: ownershipOf(workspace, access, node).mode,
    size: node.type === S_IFREG || isLink ? of.size : 0,
    // A hidden directory that is only passed through tells nothing.
    mtime: node.isDirectory && access.level(node) === 0 ? LONG_AGO : of.mtime,
    ...(isLink && access.level(node) >= READ && { target: readlink(workspace, access, node).toString('latin1') }),
    level: node.agentLevel,
  };
}

/** Another one whenever contents, size or mode of a file are others. */
export function versionOf({ inode, base }: Node): string {
  const { mode, size, mtime } = inode ?? base!;
  const which = inode === undefined ? `b${base!.dev}-${base!.ino}` : `d${inode.id}-${inode.writes}`;
  return `${which}-${mode.toString(8)}-${size}-${mtime.sec}-${mtime.nsec}`;
}

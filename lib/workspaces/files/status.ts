import { type ByteString, fromBuffer } from '../../byte-string.ts';
import { S_IFLNK, S_IFREG } from '../../linux/mode.ts';
import { REDACTED } from '../../permissions/index.ts';
import { ownershipOf, shownSize } from '../access/attr.ts';
import type { Node } from '../nodes/node.ts';
import { readlink } from '../operations/contents.ts';
import { isRedacted, redactedForm } from '../redacted/redacted-file.ts';
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
    size: node.type === S_IFREG ? shownSize(workspace, access, node) : isLink ? of.size : 0,
    // The time of a hidden directory, which is visible only as a parent, is not revealed.
    mtime: node.isDirectory && access.level(node) === 0 ? EPOCH : of.mtime,
    ...(isLink && access.level(node) >= REDACTED && { target: fromBuffer(readlink(workspace, access, node)) }),
    level: node.agentLevel,
  };
}

/** Returns a version that differs whenever the contents that this caller sees, size or mode of a file differ. */
export function shownVersion({ workspace, access }: FileRequest, node: Node): string {
  // That of the file would show the size of the original.
  if (!isRedacted(access, node)) return node.version;
  return `r${redactedForm(workspace, node).version}-${node.shown.mode.toString(8)}`;
}

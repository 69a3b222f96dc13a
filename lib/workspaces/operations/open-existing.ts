import type { ByteString } from '../../byte-string.ts';
import type { Entry } from '../../fuse/filesystem.ts';
import { EEXIST } from '../../linux/errno.ts';
import type { Access } from '../access/access.ts';
import type { Node } from '../nodes/node.ts';
import { requireChangeable } from '../redacted/agent-text.ts';
import type { Workspace } from '../workspace.ts';
import { requireFile, truncate } from './contents.ts';
import { entryFor, requireDirectory, visibleChild } from './entries.ts';

/** Flags of open(2), as Linux on x86-64 and arm64 defines them. */
const O_EXCL = 0o200;
const O_TRUNC = 0o1000;

/**
 * Opens the existing file of a CREATE. Returns undefined if the name does not exist. Throws EEXIST with O_EXCL, EISDIR
 * or EINVAL for other file types, and as `truncate` with O_TRUNC.
 */
export function openExisting(
  workspace: Workspace,
  access: Access,
  dir: Node,
  name: ByteString,
  flags: number,
): Entry | undefined {
  requireDirectory(workspace, access, dir);
  const node = visibleChild(workspace, access, dir, name);
  if (node === undefined) return undefined;
  if (flags & O_EXCL) throw EEXIST;
  requireFile(node);
  if (flags & O_TRUNC) {
    requireChangeable(workspace, access, node);
    truncate(workspace, node, 0);
  }
  return entryFor(workspace, access, node);
}

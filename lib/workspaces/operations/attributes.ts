import type { Attr, SetAttr } from '../../fuse/filesystem.ts';
import { EACCES, ENOENT, EPERM } from '../../linux/errno.ts';
import { S_IFMT, withoutSetid } from '../../linux/mode.ts';
import type { Time } from '../../linux/time.ts';
import { mayChangeName } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import { attrOf } from '../access/attr.ts';
import { isVisibleNode, requireVisible } from '../access/visibility.ts';
import type { Node } from '../nodes/node.ts';
import { requireChangeable } from '../redacted/agent-text.ts';
import type { Workspace } from '../workspace.ts';
import { requireFile, truncate } from './contents.ts';

const PERMISSION_BITS = 0o7777;

/** GETATTR. Throws ENOENT or ESTALE for a hidden node. */
export function getattr(workspace: Workspace, access: Access, node: Node): Attr {
  requireVisible(access, node);
  return attrOf(workspace, access, node);
}

/**
 * SETATTR: chmod(2), chown(2), truncate(2) and utimensat(2). Throws ENOENT for a hidden node, EACCES without WRITE,
 * EPERM for another owner, EISDIR or EINVAL for the size of a node that is no regular file, and EDQUOT, EFBIG or host
 * errors.
 */
export function setattr(workspace: Workspace, access: Access, node: Node, changes: SetAttr): Attr {
  if (!isVisibleNode(access, node)) throw ENOENT;
  if (!mayChangeName(access.level(node))) throw EACCES;
  if (changes.size !== undefined) requireFile(node);
  if (!workspace.spec.anyUid) requireOwn(workspace.spec.uid, changes);
  requireChangeable(workspace, access, node);
  const before = node.shown.size;
  if (changes.size !== undefined) truncate(workspace, node, changes.size);
  const of = node.shown;
  const now = workspace.now();
  const to = {
    mode: modeAfter(of.mode, node.isDirectory, changes),
    uid: changes.uid ?? of.uid,
    gid: changes.gid ?? of.gid,
    atime: timeAfter(of.atime, changes.atime, now),
    mtime: timeAfter(of.mtime, changes.mtime, now),
    ctime: now,
  };
  const sameTimes = changes.atime === undefined && changes.mtime === undefined;
  const onlySize = changes.size !== undefined && to.mode === of.mode && sameTimes;
  const shorter = changes.size !== undefined && changes.size <= before;
  if (!onlySize) workspace.stored.names.setAttributes(node, to, shorter);
  return attrOf(workspace, access, node);
}

/** Throws EPERM for another owner: a sandbox has only one uid and gid. */
function requireOwn(own: number, { uid, gid }: SetAttr): void {
  if ((uid !== undefined && uid !== own) || (gid !== undefined && gid !== own)) throw EPERM;
}

function modeAfter(mode: number, directory: boolean, changes: SetAttr): number {
  let after = mode;
  const chown = changes.uid !== undefined || changes.gid !== undefined;
  if (!directory && (chown || changes.killSuidgid)) after = withoutSetid(after);
  return changes.mode === undefined ? after : (mode & S_IFMT) | (changes.mode & PERMISSION_BITS);
}

function timeAfter(before: Time, to: Time | 'now' | undefined, now: Time): Time {
  return to === 'now' ? now : (to ?? before);
}

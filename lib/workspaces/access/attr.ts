import type { Attr } from '../../fuse/filesystem.ts';
import { S_IFDIR, S_IFLNK, S_IFMT } from '../../linux/mode.ts';
import type { Time } from '../../linux/time.ts';
import { MERGED, NONE, REDACTED, VIEW, WRITE } from '../../permissions/index.ts';
import type { Node } from '../nodes/node.ts';
import { isRedacted, mayTakeAsText, redactedForm } from '../redacted/redacted-file.ts';
import type { Workspace } from '../workspace.ts';
import { type Access, ownRule } from './access.ts';
import { invalidateChildren } from './pending-invalidations.ts';

/** Owner of files that the sandbox may not write: a uid that no sandbox has, so that a user namespace cannot map it. */
const NOBODY = 65534;
const BLOCK = 4096;
/** Size of every directory: the real one would reveal the number of hidden entries. */
const DIRECTORY_SIZE = 4096;
const EPOCH: Time = { sec: 0, nsec: 0 };

/**
 * Returns the attributes of a node. The kernel enforces the mode bits itself, so they express exactly what the rules
 * allow.
 */
export function attrOf(workspace: Workspace, access: Access, node: Node): Attr {
  const of = node.shown;
  const directory = node.isDirectory;
  if (directory) invalidateChildren(workspace, node);
  const hidden = directory && access.level(node) === NONE;
  const size = directory ? DIRECTORY_SIZE : shownSize(workspace, access, node);
  const stored = of.holes > 0 && !isRedacted(access, node) ? size - of.holes : size;
  const { mode, uid, gid } = ownershipOf(workspace, access, node);
  return {
    ino: workspace.tree.numbers.of(node),
    size,
    blocks: Math.ceil(stored / BLOCK) * (BLOCK / 512),
    atime: hidden ? EPOCH : of.atime,
    mtime: hidden ? EPOCH : of.mtime,
    ctime: hidden ? EPOCH : of.ctime,
    nlink: nlinkOf(workspace, access, node),
    rdev: of.rdev,
    mode,
    uid,
    gid,
  };
}

/** The size of a file: that of its form with placeholders, if this access sees only that. Throws as `redactedForm`. */
export function shownSize(workspace: Workspace, access: Access, node: Node): number {
  return isRedacted(access, node) ? redactedForm(workspace, node).bytes.length : node.shown.size;
}

interface Ownership {
  mode: number;
  uid: number;
  gid: number;
}

/** Returns mode, uid and gid of a node as the sandbox sees them. */
export function ownershipOf(workspace: Workspace, access: Access, node: Node): Ownership {
  const { spec, tree } = workspace;
  const stored = node.shown;
  if (spec.anyUid) return { mode: stored.mode, uid: stored.uid, gid: stored.gid };
  const type = stored.mode & S_IFMT;
  const { uid } = spec;
  if (type === S_IFDIR) {
    const mode = directoryMode(access, node, stored.mode);
    // No other user passes the root, whatever the kernel has cached below it.
    return { mode: node === tree.root ? mode & ~0o7 : mode, uid, gid: uid };
  }
  if (access.level(node) === WRITE) return { mode: stored.mode, uid, gid: uid };
  if (access.level(node) === MERGED && mayTakeAsText(workspace, node)) return { mode: stored.mode, uid, gid: uid };
  return { mode: type | sharedBits(access, node, stored.mode), uid: NOBODY, gid: uid };
}

/** The mode bits of what the sandbox may not write and does not own. */
function sharedBits(access: Access, node: Node, stored: number): number {
  if ((stored & S_IFMT) === S_IFLNK) return 0o777;
  if (access.level(node) < REDACTED) return 0;
  return 0o440 | (stored & 0o111 ? 0o110 : 0);
}

/**
 * A directory is owned by the sandbox even if it may not write it, because git refuses a repository of another owner.
 * The mode bits forbid writing.
 */
function directoryMode(access: Access, node: Node, stored: number): number {
  if (access.level(node) === WRITE) return stored;
  return S_IFDIR | (ownRule(access, node).writableBelow ? 0o750 : 0o550);
}

function nlinkOf(workspace: Workspace, access: Access, node: Node): number {
  if (node.isDirectory) return directoryLinks(workspace, access, node);
  if (node.isOwn) return node.nameCount;
  // The link count would reveal links in hidden directories, so the real one is returned only if everything is visible.
  const whole = (access.rule(workspace.tree.root).uniformBelow ?? NONE) >= VIEW;
  return node.links.length === 0 ? 0 : whole ? node.nameCount : 1;
}

/** Returns 2 plus the number of subdirectories, or 1 ("unknown") if some may be hidden or counting takes long. */
function directoryLinks(workspace: Workspace, access: Access, node: Node): number {
  if (node.links.length === 0 && node !== workspace.tree.root) return 0;
  if ((access.shownRule(node).uniformBelow ?? NONE) < VIEW) return 1;
  return workspace.stored.listings.linkCount(node);
}

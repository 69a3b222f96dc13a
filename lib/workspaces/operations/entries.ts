import { type ByteString, fromBuffer } from '../../byte-string.ts';
import type { Caller, Entry } from '../../fuse/filesystem.ts';
import { EACCES, EEXIST, EISDIR, EMLINK, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM } from '../../linux/errno.ts';
import { isDirectory, S_IFDIR, S_IFLNK, S_IFMT, S_ISGID } from '../../linux/mode.ts';
import { MAX_LINK_TARGET_BYTES, MAX_NAME_BYTES } from '../../path-limits.ts';
import { mayChangeName, type RuleState } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import { attrOf } from '../access/attr.ts';
import { isVisible, isVisibleNode } from '../access/visibility.ts';
import type { Node } from '../nodes/node.ts';
import { requireShortPath } from '../nodes/path-limit.ts';
import { isTextAt, requireChangeable, requireReplaceable } from '../redacted/agent-text.ts';
import type { Made } from '../stored/stored-files.ts';
import type { Workspace } from '../workspace.ts';

/** Largest number of hard links of a file, as of ext4. */
const LINK_MAX = 65000;

/** Throws ENOTDIR, or ENOENT for a directory that is hidden or removed. */
export function requireDirectory(workspace: Workspace, access: Access, dir: Node): void {
  if (!dir.isDirectory) throw ENOTDIR;
  if (!isVisibleNode(access, dir) || (dir.links.length === 0 && dir !== workspace.tree.root)) throw ENOENT;
}

/** Returns the node of a name, or undefined if it does not exist or is hidden. */
export function visibleChild(workspace: Workspace, access: Access, dir: Node, name: ByteString): Node | undefined {
  const state = access.ruleOf(dir, name);
  const node = workspace.tree.child(access, dir, name, state);
  // By the level of the path: the level of the file may be stricter because of another link.
  return node !== undefined && isVisible(state, node.isDirectory) ? node : undefined;
}

/**
 * Throws unless a new entry may be created: EEXIST only for a visible entry; EACCES without WRITE, which does not
 * reveal a hidden entry; ENAMETOOLONG for too long a name or path. Returns the rules of the new path.
 */
export function requireAbsent(workspace: Workspace, access: Access, dir: Node, name: ByteString): RuleState {
  if (name.length > MAX_NAME_BYTES) throw ENAMETOOLONG;
  requireDirectory(workspace, access, dir);
  if (visibleChild(workspace, access, dir, name) !== undefined) throw EEXIST;
  requireShortPath(dir, name);
  const state = access.ruleOf(dir, name);
  if (!mayChangeName(state.level)) throw EACCES;
  return state;
}

/** Returns the entry of a node for a reply to the kernel and adds 1 to the node's lookup count. */
export function entryFor(workspace: Workspace, access: Access, node: Node): Entry {
  const attr = attrOf(workspace, access, node);
  node.nlookup++;
  return { nodeid: node.id, attr };
}

/**
 * Creates a node of the type in `mode` and returns its entry (CREATE, MKNOD, MKDIR). Throws as `requireAbsent`, EDQUOT
 * and host errors.
 */
export function createNode(
  workspace: Workspace,
  access: Access,
  caller: Caller,
  dir: Node,
  name: ByteString,
  mode: number,
  special: Pick<Made, 'target' | 'rdev'> = {},
): Entry {
  const state = requireAbsent(workspace, access, dir, name);
  const { uid, gid, bits } = newOwnership(workspace, caller, dir, mode);
  const made = { mode: bits, uid, gid, ...special };
  const found = workspace.stored.names.create({ dir, name }, made, isTextAt(state, bits & S_IFMT));
  return entryFor(workspace, access, workspace.tree.adopt(access, dir, name, state, found));
}

/** SYMLINK. Throws as `createNode`, ENAMETOOLONG or ENOENT for too long or empty a target. */
export function symlink(
  workspace: Workspace,
  access: Access,
  caller: Caller,
  dir: Node,
  name: ByteString,
  target: Buffer,
): Entry {
  if (target.length > MAX_LINK_TARGET_BYTES) throw ENAMETOOLONG;
  if (target.length === 0) throw ENOENT;
  return createNode(workspace, access, caller, dir, name, S_IFLNK | 0o777, { target: fromBuffer(target) });
}

/**
 * LINK. Throws EPERM for a directory, EACCES unless file and new name may both be changed, EMLINK, ENOENT for an unlinked
 * file, and as `requireAbsent`.
 */
export function link(workspace: Workspace, access: Access, node: Node, dir: Node, name: ByteString): Entry {
  if (node.isDirectory) throw EPERM;
  if (!isVisibleNode(access, node)) throw ENOENT;
  const state = requireAbsent(workspace, access, dir, name);
  // In both directions: a stricter file must not become accessible under a laxer name, and a file without WRITE gets no
  // new name.
  requireChangeable(workspace, access, node);
  if (node.links.length === 0 && (!node.isOwn || node.nameCount === 0)) throw ENOENT;
  if (node.nameCount >= LINK_MAX) throw EMLINK;
  workspace.stored.names.link(node, { dir, name }, isTextAt(state, node.type));
  dir.listsLinks = true;
  for (const { parent } of node.links) parent.listsLinks = true;
  workspace.tree.link(access, node, dir, name, state);
  return entryFor(workspace, access, node);
}

/**
 * Returns the node of a name that may be removed. Throws ENOENT, ENOTDIR or EISDIR if it has not the wanted type,
 * EACCES without WRITE.
 */
export function removable(workspace: Workspace, access: Access, dir: Node, name: ByteString, directory: boolean): Node {
  requireDirectory(workspace, access, dir);
  const node = visibleChild(workspace, access, dir, name);
  if (node === undefined) throw ENOENT;
  if (node.isDirectory !== directory) throw directory ? ENOTDIR : EISDIR;
  const state = access.ruleOf(dir, name);
  if (!mayChangeName(state.level)) throw EACCES;
  requireReplaceable(workspace, access, state, node);
  return node;
}

/** Owner and mode of a new node; the set-gid bit of a directory is inherited as in Linux (inode_init_owner()). */
function newOwnership(
  workspace: Workspace,
  caller: Caller,
  dir: Node,
  mode: number,
): { uid: number; gid: number; bits: number } {
  const { spec } = workspace;
  const above = dir.shown;
  const inherits = (above.mode & S_ISGID) !== 0;
  const bits = inherits && isDirectory(mode) ? mode | S_ISGID | S_IFDIR : mode;
  if (!spec.anyUid) return { uid: spec.uid, gid: spec.uid, bits };
  return { uid: caller.uid, gid: inherits ? above.gid : caller.gid, bits };
}

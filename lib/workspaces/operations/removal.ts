import type { ByteString } from '../../byte-string.ts';
import { EACCES, ENOTEMPTY } from '../../linux/errno.ts';
import { MERGED } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';
import { removable } from './entries.ts';

/** UNLINK. Throws as `removable` and host errors. An open file stays readable and writable. */
export function unlink(workspace: Workspace, access: Access, dir: Node, name: ByteString): void {
  remove(workspace, access, dir, name, removable(workspace, access, dir, name, false));
}

/** RMDIR. Throws as `removable` and `requireEmpty`. */
export function rmdir(workspace: Workspace, access: Access, dir: Node, name: ByteString): void {
  const node = removable(workspace, access, dir, name, true);
  requireEmpty(workspace, access, node);
  remove(workspace, access, dir, name, node);
}

/** Throws ENOTEMPTY if the directory has visible entries, EACCES if it has only hidden ones. */
export function requireEmpty(workspace: Workspace, access: Access, dir: Node): void {
  const holds = workspace.stored.listings.emptiness(access, dir);
  if (holds === 'visible') throw ENOTEMPTY;
  if (holds === 'hidden') throw EACCES;
}

function remove(workspace: Workspace, access: Access, dir: Node, name: ByteString, node: Node): void {
  workspace.stored.names.remove(node, { dir, name });
  workspace.tree.unlink(access, node, dir, name);
  if (node.agentLevel === MERGED) workspace.tree.levels.relevel(node);
}

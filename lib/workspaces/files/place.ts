import type { ByteString } from '../../byte-string.ts';
import { EACCES, EISDIR, ESTALE } from '../../linux/errno.ts';
import { S_IFREG } from '../../linux/mode.ts';
import { mayChangeName } from '../../permissions/index.ts';
import type { Node } from '../nodes/node.ts';
import { requireFile } from '../operations/contents.ts';
import { requireAbsent } from '../operations/entries.ts';
import { isTextAt, requireReplaceable } from '../redacted/agent-text.ts';
import type { FileStatus } from '../workspace-files.ts';
import { type FileRequest, MAY_PASS, MAY_WRITE, type ResolvedPath } from './file-request.ts';
import { makeOne } from './names.ts';
import { invalidateInode, invalidateName } from './notify.ts';
import { statusOf } from './status.ts';

const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;

/** Throws what `place` would throw, as far as it is known now; changes nothing. */
export function mayPlace(request: FileRequest, path: ByteString): void {
  const spot = resolveWithoutMaking(request, path);
  if (spot !== undefined) requirePlace(request, spot);
}

/**
 * Resolves a path without creating its missing directories. Returns undefined if a parent is missing and may be
 * created. Throws EACCES or as `requireAbsent` if it may not.
 */
export function resolveWithoutMaking(request: FileRequest, path: ByteString): ResolvedPath | undefined {
  let absent = false;
  const spot = request.walk(path, true, (dir, name, rest) => {
    requireAbsent(request.workspace, request.access, dir, name);
    let state = request.access.rule(dir).child(name);
    for (const each of rest) state = state.child(each);
    if (!mayChangeName(state.level)) throw EACCES;
    request.require(dir, MAY_WRITE | MAY_PASS);
    absent = true;
    return undefined;
  });
  return absent ? undefined : spot;
}

/**
 * Gives a staged file its name, in place of an existing file; see `WorkspaceFiles.place`. Throws ESTALE for an unknown
 * handle, EISDIR, EACCES, EDQUOT and host errors.
 */
export function place(request: FileRequest, handle: number, path: ByteString, mode: number): FileStatus {
  const { workspace } = request;
  const { tree, handles, stored } = workspace;
  const staged = handles.get(handle);
  const made = (dir: Node, name: ByteString) => makeOne(request, dir, name, DIRECTORY_MODE);
  const spot = request.walk(path, true, made);
  const { dir, name, node: old } = requirePlace(request, spot);
  const bits = mode || (old?.shown.mode ?? FILE_MODE) & 0o777;
  // What the owner wrote may have values, also behind a link of the agent.
  const asText = !request.isOwner && isTextAt(request.access.ruleOf(dir, name), S_IFREG);
  stored.names.place(staged, { dir, name }, old, S_IFREG | bits, asText);
  if (old !== undefined) {
    tree.unlink(request.access, old, dir, name);
    invalidateInode(request, old);
  }
  // From here on the file is found by its name.
  handles.close(tree, handle);
  invalidateName(request, dir, name);
  const node = request.child(dir, name);
  if (node === undefined) throw ESTALE;
  workspace.shared.teller.changed(workspace, dir, name, old?.type, S_IFREG | bits);
  return statusOf(request, node, path);
}

/** Throws unless a file may be written there, new or in place of an existing one. */
function requirePlace(request: FileRequest, spot: ResolvedPath): ResolvedPath & { dir: Node } {
  const { dir, name, node } = spot;
  if (dir === undefined) throw EISDIR;
  if (node !== undefined) {
    requireFile(node);
    const state = request.access.ruleOf(dir, name);
    if (!mayChangeName(request.access.level(node)) || !mayChangeName(state.level)) throw EACCES;
    requireReplaceable(request.workspace, request.access, state, node);
    request.require(node, MAY_WRITE);
  } else {
    requireAbsent(request.workspace, request.access, dir, name);
    request.require(dir, MAY_WRITE | MAY_PASS);
  }
  return { ...spot, dir };
}

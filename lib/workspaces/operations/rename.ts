import type { ByteString } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { EACCES, EEXIST, EINVAL, EISDIR, ENAMETOOLONG, ENOENT, ENOTDIR } from '../../linux/errno.ts';
import { MAX_NAME_BYTES } from '../../path-limits.ts';
import { mayChangeName, type RuleState, WRITE } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import type { Node } from '../nodes/node.ts';
import { requireShortPaths } from '../nodes/path-limit.ts';
import { isTextAt, requireChangeable, requireReplaceable } from '../redacted/agent-text.ts';
import type { Workspace } from '../workspace.ts';
import { requireDirectory, visibleChild } from './entries.ts';
import { requireEmpty } from './removal.ts';

/** Flags of renameat2(2). */
export const RENAME_NOREPLACE = 1;
const RENAME_EXCHANGE = 2;

/** Steps for the rules of the new path that one request runs before other requests are served. */
const STEPS_PER_REQUEST = 200;

/** Source or destination of a rename. */
interface Place {
  dir: Node;
  name: ByteString;
  state: RuleState;
  node: Node | undefined;
}

/**
 * RENAME and RENAME2: renameat2(2) without RENAME_WHITEOUT. A directory of the base moves as one entry with a reference
 * to its origin. Throws the errors of rename(2), EACCES unless everything that moves is WRITE at both places, and
 * Postponed while a large tree is checked. Returns steps that apply the rules of the new path, if they take long; the
 * caller holds the workspace until their end.
 */
export function rename(
  workspace: Workspace,
  access: Access,
  fromDir: Node,
  fromName: ByteString,
  toDir: Node,
  toName: ByteString,
  flags: number,
): Steps<void> | undefined {
  if (flags !== 0 && flags !== RENAME_NOREPLACE && flags !== RENAME_EXCHANGE) throw EINVAL;
  if (toName.length > MAX_NAME_BYTES) throw ENAMETOOLONG;
  const from = place(workspace, access, fromDir, fromName);
  const to = place(workspace, access, toDir, toName);
  if (from.node === undefined) throw ENOENT;
  const isExchange = flags === RENAME_EXCHANGE;
  if (flags === RENAME_NOREPLACE && to.node !== undefined) throw EEXIST;
  if (isExchange && to.node === undefined) throw ENOENT;
  requireMovable(workspace, access, from.node, from, to);
  requireShortPaths(toDir, toName, from.node);
  if (isBelow(toDir, from.node)) throw EINVAL;
  if (isExchange) {
    if (isBelow(fromDir, to.node!)) throw EINVAL;
    requireMovable(workspace, access, to.node!, to, from);
    requireShortPaths(fromDir, fromName, to.node!);
    if (from.node === to.node) return undefined;
    return restOf(exchange(workspace, access, from, to));
  }
  if (to.node !== undefined) {
    if (to.node === from.node) return undefined;
    if (from.node.isDirectory && !to.node.isDirectory) throw ENOTDIR;
    if (!from.node.isDirectory && to.node.isDirectory) throw EISDIR;
    if (to.node.isDirectory) requireEmpty(workspace, access, to.node);
    requireReplaceable(workspace, access, to.state, to.node);
  }
  return restOf(move(workspace, access, from.node, from, to));
}

/** Runs some steps at once and returns the others; undefined: all are done. */
function restOf(steps: Steps<void>): Steps<void> | undefined {
  for (let step = 0; step < STEPS_PER_REQUEST; step++) if (steps.next().done) return undefined;
  return steps;
}

function place(workspace: Workspace, access: Access, dir: Node, name: ByteString): Place {
  requireDirectory(workspace, access, dir);
  return { dir, name, state: access.ruleOf(dir, name), node: visibleChild(workspace, access, dir, name) };
}

function move(workspace: Workspace, access: Access, node: Node, from: Place, to: Place): Steps<void> {
  const { tree, stored } = workspace;
  const replaced = to.node;
  stored.names.move(node, from, to, replaced, isTextAt(to.state, node.type));
  if (replaced !== undefined) tree.unlink(access, replaced, to.dir, to.name);
  const rest = tree.move(access, node, from.dir, from.name, to.dir, to.name);
  relevel(workspace, node, from, to);
  return rest;
}

function exchange(workspace: Workspace, access: Access, a: Place, b: Place): Steps<void> {
  const { tree, stored } = workspace;
  const [first, second] = [a.node!, b.node!];
  const asText = { a: isTextAt(b.state, first.type), b: isTextAt(a.state, second.type) };
  stored.names.exchange(first, a, second, b, asText);
  const rest = tree.exchange(access, first, a.dir, a.name, second, b.dir, b.name);
  relevel(workspace, first, a, b);
  relevel(workspace, second, b, a);
  return rest;
}

function relevel({ tree }: Workspace, node: Node, from: Place, to: Place): void {
  if (from.state.level !== to.state.level) tree.levels.relevel(node, to.state.level);
}

function isBelow(node: Node, above: Node): boolean {
  for (let at: Node | undefined = node; at !== undefined; at = at.parent) if (at === above) return true;
  return false;
}

/**
 * Throws EACCES unless everything that moves is WRITE at its old and new path, so that a move never changes a level. A file,
 * but nothing below a directory, may also move from and to MERGED, as the agent's text.
 */
function requireMovable(workspace: Workspace, access: Access, node: Node, from: Place, to: Place): void {
  if (!mayChangeName(from.state.level) || !mayChangeName(to.state.level)) throw EACCES;
  if (!node.isDirectory) {
    requireChangeable(workspace, access, node);
    return;
  }
  if (from.state.level !== WRITE || to.state.level !== WRITE || access.level(node) !== WRITE) throw EACCES;
  workspace.stored.listings.requireWritableBelow(access, node, access.rule(to.dir).child(to.name));
}

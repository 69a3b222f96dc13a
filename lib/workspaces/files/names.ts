import type { ByteString } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { EACCES, EEXIST, EISDIR, ENOENT } from '../../linux/errno.ts';
import { S_IFDIR } from '../../linux/mode.ts';
import { WRITE } from '../../permissions/index.ts';
import { applyRulesToMoved } from '../access/rule-changes.ts';
import type { Node } from '../nodes/node.ts';
import { createNode, requireDirectory } from '../operations/entries.ts';
import { rmdir, unlink } from '../operations/removal.ts';
import { RENAME_NOREPLACE, rename } from '../operations/rename.ts';
import { findingForm, isRedacted } from '../redacted/redacted-file.ts';
import type { FileStatus } from '../workspace-files.ts';
import { type FileRequest, MAY_PASS, MAY_READ, MAY_WRITE, type ResolvedPath } from './file-request.ts';
import { invalidateInode, invalidateName } from './notify.ts';
import { errorAt } from './refused-by-rules.ts';
import { statusOf } from './status.ts';

const DIRECTORY_MODE = 0o755;
/** Names examined or removed in one step. */
const ITEMS_PER_STEP = 8;

/** Creates a directory, with its missing parents if `parents` is set. Throws EEXIST, and as `requireAbsent`. */
export function makeDirectory(request: FileRequest, path: ByteString, mode: number, parents: boolean): FileStatus {
  const missing = (dir: Node, name: ByteString) => makeOne(request, dir, name, DIRECTORY_MODE);
  const { dir, name, node } = request.walk(path, parents, parents ? missing : undefined);
  if (node !== undefined && (!parents || !node.isDirectory)) throw EEXIST;
  const made = node ?? makeOne(request, dir!, name, mode || DIRECTORY_MODE);
  return statusOf(request, made, path);
}

/** Creates one directory, as mkdir(2), and invalidates its name in the kernel. */
export function makeOne(request: FileRequest, dir: Node, name: ByteString, mode: number): Node {
  requireDirectory(request.workspace, request.access, dir);
  // An existing name, or one that the rules forbid, is reported before the mode bits are checked.
  if (request.child(dir, name) === undefined) request.require(dir, MAY_WRITE | MAY_PASS);
  const { nodeid } = createNode(request.workspace, request.access, request.caller, dir, name, S_IFDIR | mode);
  invalidateName(request, dir, name);
  request.workspace.shared.teller.changed(request.workspace, dir, name, undefined, S_IFDIR);
  return request.takeEntered(nodeid);
}

/**
 * Renames a file, directory or symlink. Returns steps for what follows from the rules of its new path. Throws the errors
 * of rename(2), with the path that they are about, and Postponed.
 */
export function move(request: FileRequest, from: ByteString, to: ByteString, replace: boolean): Steps<FileStatus> {
  const { workspace } = request;
  const source = about(request, from, () => movable(request, from));
  const target = about(request, to, () => movable(request, to));
  const at = target.node === undefined || source.node === undefined ? from : to;
  const refused = () => [from, to].find((path) => workspace.rules.decide(path) !== WRITE) ?? at;
  const culprit = (error: unknown) => (error === EACCES ? refused() : at);
  const rest = about(request, culprit, () => {
    if (source.node?.isDirectory && source.dir !== target.dir) request.require(source.node, MAY_WRITE);
    const flags = replace ? 0 : RENAME_NOREPLACE;
    return rename(workspace, request.access, source.dir, source.name, target.dir, target.name, flags);
  });
  invalidateName(request, source.dir, source.name);
  invalidateName(request, target.dir, target.name);
  if (target.node !== undefined) invalidateInode(request, target.node);
  const node = request.child(target.dir, target.name);
  if (node === undefined) throw ENOENT;
  invalidateInode(request, node);
  const { teller } = workspace.shared;
  teller.changed(workspace, source.dir, source.name, node.type, undefined);
  teller.changed(workspace, target.dir, target.name, target.node?.type, node.shown.mode);
  return moved(request, node, to, rest);
}

function* moved(request: FileRequest, node: Node, path: ByteString, rest: Steps<void> | undefined): Steps<FileStatus> {
  if (rest !== undefined) yield* rest;
  if (request.isOwner) yield* applyRulesToMoved(request.workspace, node);
  return statusOf(request, node, path);
}

/** Resolves source or destination of a move. A missing source is reported by the rename itself. */
function movable(request: FileRequest, path: ByteString): ResolvedPath & { dir: Node } {
  const spot = named(request.walk(path, false));
  requireParent(request, spot.dir);
  return spot;
}

/** Errors of `task` name this path. */
function about<T>(request: FileRequest, path: ByteString | ((error: unknown) => ByteString), task: () => T): T {
  try {
    return task();
  } catch (error) {
    throw errorAt(request, error, typeof path === 'function' ? path(error) : path);
  }
}

/** Removes a file, symlink or directory; see `WorkspaceFiles.remove`. Throws ENOENT, EACCES, ENOTEMPTY. */
export function* remove(
  request: FileRequest,
  path: ByteString,
  recursive: boolean,
  begun: boolean,
  limit: number,
): Steps<{ removed: number; more: boolean }> {
  const spot = named(request.walk(path, false));
  const { node } = spot;
  if (node === undefined) throw ENOENT;
  if (node.isDirectory && recursive && !begun) {
    if (request.access.ruleOf(spot.dir, spot.name).level !== WRITE) throw EACCES;
    yield* request.workspace.stored.listings.checkingBelow(request.access, node, request.access.rule(node));
  }
  return yield* removeSome(request, { ...spot, node }, recursive, limit);
}

/** A directory entry that is being removed. */
interface RemovalFrame {
  dir: Node;
  name: ByteString;
  node: Node;
  /** Directory: its names that were not examined yet. */
  below: Iterator<{ name: ByteString }> | undefined;
}

/** Removes a tree bottom-up. The tree can be deeper than the stack, so there is no recursion. */
function* removeSome(
  request: FileRequest,
  top: Omit<RemovalFrame, 'below'>,
  recursive: boolean,
  limit: number,
): Steps<{ removed: number; more: boolean }> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const { workspace } = request;
  const enter = function* (at: Omit<RemovalFrame, 'below'>): Steps<RemovalFrame> {
    const into = recursive && at.node.isDirectory;
    if (into) request.require(at.node, MAY_READ | MAY_WRITE | MAY_PASS);
    return {
      ...at,
      below: into ? (yield* workspace.stored.listings.listing(at.node)).values()[Symbol.iterator]() : undefined,
    };
  };
  const stack = [yield* enter(top)];
  let removed = 0;
  for (let at = stack.at(-1); at !== undefined; at = stack.at(-1)) {
    if (counter.count()) yield;
    const next = at.below?.next();
    if (next !== undefined && !next.done) {
      const { name } = next.value;
      const node = request.child(at.node, name);
      if (node !== undefined) stack.push(yield* enter({ dir: at.node, name, node }));
      continue;
    }
    if (removed === limit) return { removed, more: true };
    requireParent(request, at.dir);
    if (isRedacted(request.access, at.node)) yield* findingForm(workspace, at.node);
    if (at.node.isDirectory) rmdir(workspace, request.access, at.dir, at.name);
    else unlink(workspace, request.access, at.dir, at.name);
    invalidateName(request, at.dir, at.name);
    invalidateInode(request, at.node);
    workspace.shared.teller.changed(workspace, at.dir, at.name, at.node.type, undefined);
    removed++;
    stack.pop();
  }
  return { removed, more: false };
}

/** Throws EISDIR for the root of the workspace, which cannot be removed or renamed. */
function named(spot: ResolvedPath): ResolvedPath & { dir: Node } {
  if (spot.dir === undefined) throw EISDIR;
  return { ...spot, dir: spot.dir };
}

function requireParent(request: FileRequest, dir: Node): void {
  request.require(dir, MAY_WRITE | MAY_PASS);
}

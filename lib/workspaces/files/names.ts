import type { ByteString } from '../../byte-string.ts';
import { Counted, type Steps } from '../../fuse/connection/steps.ts';
import { EACCES, EEXIST, EISDIR, ENOENT } from '../../linux/errno.ts';
import { S_IFDIR } from '../../linux/mode.ts';
import { WRITE } from '../../permissions/index.ts';
import { renewMoved } from '../access/rule-changes.ts';
import { keptListing } from '../nodes/merged-listing.ts';
import type { Node } from '../nodes/node.ts';
import { make, requireDirectory } from '../operations/entries.ts';
import { rmdir, unlink } from '../operations/removal.ts';
import { RENAME_NOREPLACE, rename, requiringSubtree } from '../operations/rename.ts';
import type { FileStatus } from '../workspace-files.ts';
import { tellInode, tellName } from './notify.ts';
import { refusal } from './refusal.ts';
import { statusOf } from './status.ts';
import { MAY_PASS, MAY_READ, MAY_WRITE, type Spot, type Visit } from './visit.ts';

const DIRECTORY_MODE = 0o755;
/** Names looked at, or removed, in one step. */
const AT_ONCE = 8;

export function makeDirectory(visit: Visit, path: ByteString, mode: number, parents: boolean): FileStatus {
  const missing = (dir: Node, name: ByteString) => makeOne(visit, dir, name, DIRECTORY_MODE);
  const { dir, name, node } = visit.walk(path, parents, parents ? missing : undefined);
  if (node !== undefined && (!parents || !node.isDirectory)) throw EEXIST;
  const made = node ?? makeOne(visit, dir!, name, mode || DIRECTORY_MODE);
  return statusOf(visit, made, path);
}

/** One directory, as mkdir(2); the kernel is told. */
export function makeOne(visit: Visit, dir: Node, name: ByteString, mode: number): Node {
  requireDirectory(visit.workspace, visit.access, dir);
  // What is there, or may not be made, says so before the mode bits do.
  if (visit.child(dir, name) === undefined) visit.require(dir, MAY_WRITE | MAY_PASS);
  const { nodeid } = make(visit.workspace, visit.access, visit.caller, dir, name, S_IFDIR | mode);
  tellName(visit, dir, name);
  return visit.entered(nodeid);
}

export function move(visit: Visit, from: ByteString, to: ByteString, replace: boolean): FileStatus {
  const { workspace } = visit;
  const source = about(from, () => movable(visit, from));
  const target = about(to, () => movable(visit, to));
  about(target.node === undefined || source.node === undefined ? from : to, () => {
    if (source.node?.isDirectory && source.dir !== target.dir) visit.require(source.node, MAY_WRITE);
    rename(workspace, visit.access, source.dir, source.name, target.dir, target.name, replace ? 0 : RENAME_NOREPLACE);
  });
  tellName(visit, source.dir, source.name);
  tellName(visit, target.dir, target.name);
  if (target.node !== undefined) tellInode(visit, target.node);
  const node = visit.child(target.dir, target.name);
  if (node === undefined) throw ENOENT;
  tellInode(visit, node);
  if (visit.isOwner) renewMoved(workspace, node);
  return statusOf(visit, node, to);
}

/** One end of a move. Nothing there is told by the move itself. */
function movable(visit: Visit, path: ByteString): Spot & { dir: Node } {
  const spot = named(visit.walk(path, false));
  requireParent(visit, spot.dir);
  return spot;
}

/** A refusal of `task` names this path. */
function about<T>(path: ByteString, task: () => T): T {
  try {
    return task();
  } catch (error) {
    throw refusal(error, path);
  }
}

export function* remove(
  visit: Visit,
  path: ByteString,
  recursive: boolean,
  begun: boolean,
  limit: number,
): Steps<{ removed: number; more: boolean }> {
  const spot = named(visit.walk(path, false));
  const { node } = spot;
  if (node === undefined) throw ENOENT;
  if (node.isDirectory && recursive && !begun) {
    if (visit.access.ruleOf(spot.dir, spot.name).level !== WRITE) throw EACCES;
    yield* requiringSubtree(visit.workspace, visit.access, node, visit.access.rule(node));
  }
  return yield* removeSome(visit, { ...spot, node }, recursive, limit);
}

interface Doomed {
  dir: Node;
  name: ByteString;
  node: Node;
  /** Directory: names in it not looked at yet. */
  below: Iterator<{ name: ByteString }> | undefined;
}

/** From the inside out. Trees can be deeper than any stack. */
function* removeSome(
  visit: Visit,
  top: Omit<Doomed, 'below'>,
  recursive: boolean,
  limit: number,
): Steps<{ removed: number; more: boolean }> {
  const counted = new Counted(AT_ONCE);
  const { workspace } = visit;
  const enter = function* (at: Omit<Doomed, 'below'>): Steps<Doomed> {
    const into = recursive && at.node.isDirectory;
    if (into) visit.require(at.node, MAY_READ | MAY_WRITE | MAY_PASS);
    return { ...at, below: into ? (yield* keptListing(workspace, at.node)).values() : undefined };
  };
  const stack = [yield* enter(top)];
  let removed = 0;
  for (let at = stack.at(-1); at !== undefined; at = stack.at(-1)) {
    yield* counted.one();
    const next = at.below?.next();
    if (next !== undefined && !next.done) {
      const { name } = next.value;
      const node = visit.child(at.node, name);
      if (node !== undefined) stack.push(yield* enter({ dir: at.node, name, node }));
      continue;
    }
    if (removed === limit) return { removed, more: true };
    requireParent(visit, at.dir);
    if (at.node.isDirectory) rmdir(workspace, visit.access, at.dir, at.name);
    else unlink(workspace, visit.access, at.dir, at.name);
    tellName(visit, at.dir, at.name);
    tellInode(visit, at.node);
    removed++;
    stack.pop();
  }
  return { removed, more: false };
}

/** Throws for the root, which has no name to take away or to give. */
function named(spot: Spot): Spot & { dir: Node } {
  if (spot.dir === undefined) throw EISDIR;
  return { ...spot, dir: spot.dir };
}

function requireParent(visit: Visit, dir: Node): void {
  visit.require(dir, MAY_WRITE | MAY_PASS);
}

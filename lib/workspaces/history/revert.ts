import { ancestorsOf, type ByteString, joinPath, quote, ROOT_PATH, splitPath } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import { mergedBase } from '../base/merged-base.ts';
import { shownFrom } from '../base/shown-from.ts';
import { identityOf } from '../delta/index/base-versions.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import { memoryOf } from '../delta/index/memory.ts';
import type { Op } from '../delta/index/records.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';
import { renamedDirectories } from './renamed-directories.ts';
import { showBase } from './show-base.ts';
import { removeUnusedDirectories } from './unused-directories.ts';

/** Names examined in one step. */
const ITEMS_PER_STEP = 16;

interface Place {
  dir: Inode;
  /** Path of `dir`. */
  dirPath: ByteString;
  name: ByteString;
}

/**
 * Reverts paths ('': all) and everything below to the base, in one journal record. Open files show the base's contents,
 * or keep theirs if the base has none. Returns the number of reverted names. Throws FAILED_PRECONDITION, with nothing
 * changed, for a path inside a directory that the sandbox renamed, removed or replaced: only the whole directory has a
 * version in the base.
 */
export function* revert(workspace: Workspace, paths: readonly ByteString[]): Steps<number> {
  return yield* workspace.delta.releasing(revertAll(workspace, paths));
}

function* revertAll(workspace: Workspace, paths: readonly ByteString[]): Steps<number> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const root = workspace.delta.table.get(ROOT_ID);
  if (root === undefined) return 0;
  const places = new Map<ByteString, Place>();
  for (const path of paths) {
    for (const place of path === '' ? namesOf(root) : [find(workspace, root, path)]) {
      if (place !== undefined) places.set(joinPath(place.dirPath, place.name), place);
      yield* counter.count();
    }
  }
  // Contents of a reverted directory are reverted with it.
  const topmost = [...places].filter(([path]) => !isBelow(path, places));
  const ops: Op[] = [];
  const dropped = new Set<Inode>();
  for (const [, { dir, name }] of topmost) yield* stageRemoval(dir, name, ops, dropped, counter);
  const seen = yield* removedWith(workspace, dropped, places, counter);
  // A discard must not fail: beyond the memory limit these removals become conflicts.
  if (!workspace.shared.memory.isOver(workspace, memoryOf(seen), true)) for (const op of seen) ops.push(op);
  if (topmost.length > 0) {
    for (const [seen] of workspace.delta.table.baseVersions.entries()) {
      if (places.has(seen) || isBelow(seen, places)) ops.push(['unseen', seen]);
      yield* counter.count();
    }
  }
  if (ops.length === 0) return 0;
  const count = ops.filter(([kind]) => kind === 'drop').length;
  yield* workspace.delta.committing(ops, true);
  for (const [, { dirPath, name }] of topmost) {
    const node = nodeAt(workspace, dirPath);
    if (node !== undefined) yield* showBase(workspace, node, name);
    yield* counter.count();
  }
  for (const inode of dropped) {
    if (inode.names === 0 && !workspace.tree.hasNode(inode)) workspace.delta.release(inode);
    yield* counter.count();
  }
  yield* removeUnusedDirectories(workspace, new Set(topmost.map(([, { dirPath }]) => dirPath)), 'always');
  return count;
}

function* namesOf(root: Inode): Generator<Place> {
  for (const name of root.requireEntries().keys()) yield { dir: root, dirPath: ROOT_PATH, name };
}

/**
 * Finds the entry of a path in the delta. Returns undefined if there is none. Throws FAILED_PRECONDITION as `revert`.
 */
function find(workspace: Workspace, root: Inode, path: ByteString): Place | undefined {
  const names = splitPath(path);
  let dir = root;
  let dirPath = ROOT_PATH;
  let merged: ByteString | undefined = ROOT_PATH;
  for (const [depth, name] of names.entries()) {
    const entry = dir.requireEntries().get(name);
    if (entry === undefined) return undefined;
    if (depth === names.length - 1) return { dir, dirPath, name };
    const at = joinPath(dirPath, name);
    const base = workspace.base.lstat(at);
    if (entry === WHITEOUT || !entry.isDirectory) {
      if (workspace.base.lstat(path) === undefined) return undefined;
      throw inside(path, at);
    }
    merged = mergedBase(workspace.base, entry, merged, name);
    const inPlace = merged === at && base !== undefined && isDirectory(base.mode);
    const isNew = merged === undefined && base === undefined;
    if (!inPlace && !isNew) throw inside(path, at);
    dir = entry;
    dirPath = at;
  }
  return undefined;
}

function inside(path: ByteString, directory: ByteString): ServiceError {
  return new ServiceError(
    'FAILED_PRECONDITION',
    `paths: ${quote(path)} is inside ${quote(directory)}, which the sandbox renamed, removed or replaced; name that directory instead`,
  );
}

/**
 * Stages the removal of a name and everything below it, bottom-up. The tree can be deeper than the stack, so there is
 * no recursion.
 */
function* stageRemoval(
  dir: Inode,
  name: ByteString,
  ops: Op[],
  dropped: Set<Inode>,
  counter: StepCounter,
): Steps<void> {
  const downwards: Op[] = [];
  const waiting: [Inode, ByteString][] = [[dir, name]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [above, at] = next;
    downwards.push(['drop', above.id, at]);
    yield* counter.count();
    const entry = above.requireEntries().get(at);
    if (entry === WHITEOUT || entry === undefined) continue;
    dropped.add(entry);
    for (const below of entry.entries?.keys() ?? []) waiting.push([entry, below]);
  }
  for (const op of downwards.reverse()) ops.push(op);
}

/**
 * When a renamed directory is reverted but its old path is not, the base entries there count as removed, of the version
 * that the sandbox showed at the new path. Entries that other renamed directories still show are excluded.
 */
function* removedWith(
  workspace: Workspace,
  dropped: ReadonlySet<Inode>,
  places: ReadonlyMap<ByteString, Place>,
  counter: StepCounter,
): Steps<Op[]> {
  const { base, delta } = workspace;
  const ops: Op[] = [];
  const lost = [...dropped].flatMap(({ origin }) => origin ?? []);
  if (lost.length === 0) return ops;
  const ids = new Set([...dropped].map(({ id }) => id));
  const renamed = yield* renamedDirectories(workspace);
  const shown = new Set(renamed.flatMap(({ id, origin }) => (ids.has(id) ? [] : (origin ?? []))));
  for (const top of lost) {
    if (places.has(top) || isBelow(top, places) || shownFrom(workspace, top) === top) continue;
    const waiting = [top];
    for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
      for (const { name } of yield* base.reading(dir)) {
        yield* counter.count();
        const path = joinPath(dir, name);
        const stat = shown.has(path) ? undefined : base.lstat(path);
        if (stat === undefined) continue;
        if (isDirectory(stat.mode)) waiting.push(path);
        if (delta.table.baseVersions.get(path) === undefined) ops.push(['seen', path, ...identityOf(stat)]);
      }
    }
  }
  return ops;
}

function nodeAt(workspace: Workspace, path: ByteString): Node | undefined {
  let node: Node | undefined = workspace.tree.root;
  for (const name of splitPath(path)) node = node?.children?.get(name);
  return node;
}

function isBelow(path: ByteString, tops: ReadonlyMap<ByteString, unknown>): boolean {
  for (const above of ancestorsOf(path)) if (tops.has(above)) return true;
  return false;
}

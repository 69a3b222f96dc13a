import { ancestorsOf, type ByteString, joinPath, quote, ROOT_PATH, splitPath } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import { mergedBase } from '../base/merged-base.ts';
import { shownFrom } from '../base/shown-from.ts';
import { identityOf } from '../delta/index/base-versions.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';
import { IdSet } from '../delta/index/id-set.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import { memoryOf } from '../delta/index/memory.ts';
import type { Op } from '../delta/index/records.ts';
import { DividedList } from '../divided-list.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';
import { renamedDirectories } from './renamed-directories.ts';
import { showBase } from './show-base.ts';
import { removeUnusedDirectories } from './unused-directories.ts';

/** Names examined in one step. */
const ITEMS_PER_STEP = 16;
/** Names of which programs that watch are told. */
const MOST_TOLD = 4096;

interface Place {
  dir: Inode;
  /** Path of `dir`. */
  dirPath: ByteString;
  name: ByteString;
}

/** By path. */
type Places = LargeMap<ByteString, Place>;

/** What is removed, of a million entries without a step that handles all of them. */
interface Removal {
  ops: DividedList<Op>;
  /** Ids of the inodes that lose a name. */
  dropped: IdSet;
  /** Those of directories among them. */
  origins: DividedList<ByteString>;
  /** Of directories that the kernel knows, with the mode of what had the name; undefined: it was removed. */
  known: DividedList<[dir: LayeredNode, name: ByteString, before: number | undefined]>;
}

/**
 * Reverts paths ('': all) and everything below to the base, in one journal record. Open files show the base's contents,
 * or keep theirs if the base has none. Returns the number of reverted names. Throws FAILED_PRECONDITION, with nothing
 * changed, for a path inside a directory that the sandbox renamed, removed or replaced: only the whole directory has a
 * version in the base.
 */
export function* revert(workspace: LayeredWorkspace, paths: Iterable<ByteString>): Steps<number> {
  return yield* workspace.delta.releasing(revertAll(workspace, paths));
}

function* revertAll(workspace: LayeredWorkspace, paths: Iterable<ByteString>): Steps<number> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const { table } = workspace.delta;
  const root = table.get(ROOT_ID);
  if (root === undefined) return 0;
  const places = yield* findAll(workspace, root, paths, counter);
  const removal: Removal = {
    ops: new DividedList(),
    dropped: new IdSet(),
    origins: new DividedList(),
    known: new DividedList(),
  };
  const topmost = new DividedList<Place>();
  for (const [path, place] of places) {
    if (counter.count()) yield;
    // Contents of a reverted directory are reverted with it.
    if (isBelow(path, places)) continue;
    topmost.push(place);
    yield* stageRemoval(workspace, place, removal, counter);
  }
  const { ops, dropped } = removal;
  const count = ops.length;
  const seen = yield* removedWith(workspace, removal, places, counter);
  // A discard must not fail: beyond the memory limit these removals become conflicts.
  if (!workspace.shared.memory.isOver(workspace, seen.memory, true)) {
    for (const op of seen.ops) {
      ops.push(op);
      if (counter.count()) yield;
    }
  }
  if (topmost.length > 0) {
    for (const [path] of table.baseVersions.entries()) {
      if (places.has(path) || isBelow(path, places)) ops.push(['unseen', path]);
      if (counter.count()) yield;
    }
  }
  if (ops.length === 0) return 0;
  yield* workspace.delta.committing(ops, true);
  const above = new Set<ByteString>();
  for (const { dirPath, name } of topmost) {
    above.add(dirPath);
    const node = nodeAt(workspace, dirPath);
    if (node !== undefined) yield* showBase(workspace, node, name);
    if (counter.count()) yield;
  }
  yield* tellWatchers(workspace, removal, counter);
  for (const id of dropped.values()) {
    const inode = table.get(id);
    if (inode?.names === 0 && !workspace.tree.hasNode(inode)) workspace.delta.release(inode);
    if (counter.count()) yield;
  }
  yield* removeUnusedDirectories(workspace, above, 'always');
  return count;
}

/** Called when the names show the base. */
function* tellWatchers(workspace: LayeredWorkspace, { known }: Removal, counter: StepCounter): Steps<void> {
  const { base, shared } = workspace;
  for (const [dir, name, before] of known) {
    if (counter.count()) yield;
    const after = dir.basePath === undefined ? undefined : base.lstat(joinPath(dir.basePath, name));
    shared.teller.changed(workspace, dir, name, before, after?.mode);
  }
}

/** Returns the entries of these paths, which may be a million. Throws FAILED_PRECONDITION as `revert`. */
function* findAll(
  workspace: LayeredWorkspace,
  root: Inode,
  paths: Iterable<ByteString>,
  counter: StepCounter,
): Steps<Places> {
  let places: Places = new Map();
  for (const path of paths) {
    for (const place of path === '' ? namesOf(root) : [find(workspace, root, path)]) {
      places = dividedIfLarge(places);
      if (place !== undefined) places.set(joinPath(place.dirPath, place.name), place);
      if (counter.count()) yield;
    }
  }
  return places;
}

function* namesOf(root: Inode): Generator<Place> {
  for (const name of root.requireEntries().keys()) yield { dir: root, dirPath: ROOT_PATH, name };
}

/**
 * Finds the entry of a path in the delta. Returns undefined if there is none. Throws FAILED_PRECONDITION as `revert`.
 */
function find(workspace: LayeredWorkspace, root: Inode, path: ByteString): Place | undefined {
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
    // Also of one that the base has no more.
    const inPlace = merged === at;
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
  { tree }: LayeredWorkspace,
  { dir, name }: Place,
  { ops, dropped, origins, known }: Removal,
  counter: StepCounter,
): Steps<void> {
  const downwards = new DividedList<Op>();
  const waiting = new DividedList<[Inode, ByteString]>();
  waiting.push([dir, name]);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [above, at] = next;
    downwards.push(['drop', above.id, at]);
    if (counter.count()) yield;
    const entry = above.requireEntries().get(at);
    const node = tree.nodeOf(above);
    const isKnown = node !== undefined && node.nlookup > 0 && known.length < MOST_TOLD;
    if (isKnown && entry !== undefined) known.push([node, at, entry?.mode]);
    if (entry === WHITEOUT || entry === undefined) continue;
    if (dropped.add(entry.id) && entry.origin !== undefined) origins.push(entry.origin);
    for (const below of entry.entries?.keys() ?? []) {
      waiting.push([entry, below]);
      if (counter.count()) yield;
    }
  }
  for (let last = downwards.pop(); last !== undefined; last = downwards.pop()) {
    ops.push(last);
    if (counter.count()) yield;
  }
}

/**
 * When a renamed directory is reverted but its old path is not, the base entries there count as removed, of the version
 * that the sandbox showed at the new path. Entries that other renamed directories still show are excluded.
 */
function* removedWith(
  workspace: LayeredWorkspace,
  { dropped, origins }: Removal,
  places: Places,
  counter: StepCounter,
): Steps<{ ops: DividedList<Op>; memory: number }> {
  const { base, delta } = workspace;
  const ops = new DividedList<Op>();
  let memory = 0;
  if (origins.length === 0) return { ops, memory };
  const renamed = yield* renamedDirectories(workspace);
  const shown = new Set(renamed.flatMap(({ id, origin }) => (dropped.has(id) ? [] : (origin ?? []))));
  for (const top of origins) {
    if (places.has(top) || isBelow(top, places) || shownFrom(workspace, top) === top) continue;
    const waiting = [top];
    for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
      for (const { name } of yield* base.reading(dir)) {
        if (counter.count()) yield;
        const path = joinPath(dir, name);
        const stat = shown.has(path) ? undefined : base.lstat(path);
        if (stat === undefined) continue;
        if (isDirectory(stat.mode)) waiting.push(path);
        if (delta.table.baseVersions.get(path) !== undefined) continue;
        const op: Op = ['seen', path, ...identityOf(stat)];
        memory += memoryOf(op);
        ops.push(op);
      }
    }
  }
  return { ops, memory };
}

function nodeAt(workspace: LayeredWorkspace, path: ByteString): LayeredNode | undefined {
  let node: LayeredNode | undefined = workspace.tree.root;
  for (const name of splitPath(path)) node = node?.children?.get(name);
  return node;
}

function isBelow(path: ByteString, tops: Places): boolean {
  for (const above of ancestorsOf(path)) if (tops.has(above)) return true;
  return false;
}

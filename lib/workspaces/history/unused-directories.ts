import { type ByteString, joinPath, parentOf, ROOT_PATH } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import { MAX_PATH_BYTES } from '../../path-limits.ts';
import type { BaseStat } from '../base/base.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import type { Op } from '../delta/index/records.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';
import { PathMemo } from '../nodes/path-memo.ts';
import type { OpenWorkspace } from '../open-workspace.ts';
import { showBase } from './show-base.ts';

/** Records examined in one step. */
const ITEMS_PER_STEP = 16;

/**
 * Condition for removing the record of a base directory in which the sandbox has nothing of its own. 'base gone': the
 * base has no directory there any more; until then the record keeps the times that the sandbox's changes gave the
 * directory. 'always': also while the base has it.
 */
type RemoveWhen = 'base gone' | 'always';

/** A directory of the index. */
interface DirectoryRecord {
  inode: Inode;
  path: ByteString;
  /** undefined for the root. */
  above: { dir: Inode; name: ByteString } | undefined;
  /** The directory and all its parents show the base at their own paths. */
  inPlace: boolean;
}

interface Fitted {
  /** Parents last. */
  dropped: RemovedRecord[];
  /** Directories that remain, with the base's attributes. */
  changed: Inode[];
}

interface RemovedRecord {
  inode: Inode;
  path: ByteString;
  name: ByteString;
  /** The base directory at the path. */
  base: BaseStat | undefined;
}

const NOTHING: Fitted = { dropped: [], changed: [] };

/**
 * Removes unused directory records. The first change in a base directory creates a record of that directory, which
 * outlives the change. Of the records at, above and below `paths`, those are removed that have nothing of the sandbox's
 * own: no changed entry, no attributes set by it, neither renamed nor created by it. Remaining directories without
 * attributes of their own get the base's. Their nodes show the base. `except`: paths whose records are left as they are.
 */
export function* removeUnusedDirectories(
  workspace: OpenWorkspace,
  paths: Iterable<ByteString>,
  when: RemoveWhen,
  except: ReadonlySet<ByteString> = new Set(),
): Steps<void> {
  const { dropped, changed } = yield* removeRecords(workspace, paths, when, except);
  const { tree, shared, delta } = workspace;
  for (const inode of changed) {
    yield;
    const node = tree.nodeOf(inode);
    if (node !== undefined) shared.notifier.invalInode(node.id);
  }
  const nodes = new PathMemo<LayeredNode | undefined>(tree.root, (above, name) => above?.children?.get(name));
  // A directory is updated before its entries.
  for (const { inode, path, name, base } of dropped.reverse()) {
    yield;
    if (base === undefined) {
      const dir = nodes.at(parentOf(path));
      if (dir !== undefined) yield* showBase(workspace, dir, name);
    } else {
      const node = tree.nodeOf(inode);
      if (node !== undefined) {
        tree.binding.revertToBase(node, path, base);
        shared.notifier.invalInode(node.id);
      }
    }
    if (inode.names === 0 && !tree.hasNode(inode)) delta.release(inode);
  }
}

/**
 * As `removeUnusedDirectories` for all records whose base directory is gone, while no node is bound to an inode. Examines
 * none if the delta is exactly a frozen layer for which that was done in the present state of the base, as a new fork's.
 */
export function* fitToBase(workspace: OpenWorkspace): Steps<void> {
  const { delta, shared, spec } = workspace;
  if (workspace.awaitsRebase) return;
  workspace.fittedTo = shared.bases.stateOf(spec.codebaseId);
  if (delta.fittedTo === workspace.fittedTo) return;
  const counter = new StepCounter(ITEMS_PER_STEP);
  const { dropped } = yield* removeRecords(workspace, [ROOT_PATH], 'base gone');
  for (const { inode } of dropped) {
    workspace.delta.release(inode);
    if (counter.count()) yield;
  }
}

/** Removes the records in one journal record. On a full disk nothing happens, and the next change of the base tries again. */
function* removeRecords(
  workspace: OpenWorkspace,
  paths: Iterable<ByteString>,
  when: RemoveWhen,
  except?: ReadonlySet<ByteString>,
): Steps<Fitted> {
  const { base, delta } = workspace;
  const { baseVersions: seen } = delta.table;
  const records = yield* recordsAt(workspace, paths);
  if (records.length === 0) return NOTHING;
  const ops: Op[] = [];
  const dropped = new Map<Inode, RemovedRecord>();
  const changed: Inode[] = [];
  const counter = new StepCounter(ITEMS_PER_STEP);
  const root = base.lstat(ROOT_PATH);
  const bases = new PathMemo<BaseStat | undefined>(root, (above, _name, path) => {
    const stat = above && base.lstat(path);
    return stat !== undefined && isDirectory(stat.mode) ? stat : undefined;
  });
  for (const { inode, path, above } of records) {
    yield;
    if (except?.has(path)) continue;
    const unused = yield* isUnused(inode, dropped, counter);
    // A committed directory has the base's attributes, or a recorded base version that tells that its mode is a change.
    if (inode.origin === path && when === 'always' && !unused) continue;
    const now = bases.at(path);
    // A directory that the sandbox created is the base's only after a commit has found it there.
    if (inode.origin !== path && (now === undefined || when !== 'always' || now.mode !== inode.mode)) continue;
    const known = seen.get(path);
    if (known !== undefined && known[1] !== inode.mode) continue;
    // The base has no entries that its whiteouts could hide once the directory is removed.
    if (unused && (now === undefined || (when === 'always' && inode.requireEntries().size === inode.subdirs))) {
      for (const [name, entry] of inode.requireEntries().found()) {
        if (entry === WHITEOUT) ops.push(['drop', inode.id, name]);
        if (counter.count()) yield;
      }
      ops.push(['drop', above!.dir.id, above!.name]);
      dropped.set(inode, { inode, path, name: above!.name, base: now });
    } else if (now !== undefined) {
      if (inode.origin !== path) ops.push(['origin', inode.id, path]);
      if (known !== undefined) ops.push(['unseen', path]);
      const { mode, uid, gid } = now;
      if (inode.mode === mode && inode.uid === uid && inode.gid === gid) continue;
      const { atime, mtime, ctime } = inode;
      ops.push(delta.attrOp(inode, { mode, uid, gid, atime, mtime, ctime }));
      changed.push(inode);
    }
  }
  const all = [...dropped.values()];
  yield* removeBaseVersions(workspace, new Set(all.map(({ path }) => path)), ops);
  if (ops.length === 0) return NOTHING;
  try {
    yield* delta.committing(ops, true);
  } catch {
    workspace.fittedTo = undefined;
    return NOTHING;
  }
  workspace.generation++;
  return { dropped: all, changed };
}

/** Whether a directory has no entries of the sandbox's own except whiteouts. */
function* isUnused({ entries }: Inode, dropped: ReadonlyMap<Inode, unknown>, counter: StepCounter): Steps<boolean> {
  for (const [, entry] of entries!.found()) {
    if (entry !== WHITEOUT && !dropped.has(entry)) return false;
    if (counter.count()) yield;
  }
  return true;
}

/** Removes the recorded base versions at and below these paths. */
function* removeBaseVersions(workspace: OpenWorkspace, paths: ReadonlySet<ByteString>, ops: Op[]): Steps<void> {
  if (paths.size === 0) return;
  const counter = new StepCounter(ITEMS_PER_STEP);
  for (const [path] of workspace.delta.table.baseVersions.entries()) {
    if (counter.count()) yield;
    for (let at = path; at !== ''; at = parentOf(at)) {
      if (!paths.has(at)) continue;
      ops.push(['unseen', path]);
      break;
    }
  }
}

/** Directories of the index that show base directories: above, at and below the paths; parents last. */
function* recordsAt({ delta }: OpenWorkspace, paths: Iterable<ByteString>): Steps<DirectoryRecord[]> {
  const root = delta.table.get(ROOT_ID);
  if (root === undefined || root.requireEntries().size === 0) return [];
  const counter = new StepCounter(ITEMS_PER_STEP);
  const found = new Map<Inode, DirectoryRecord>();
  const top: DirectoryRecord = { inode: root, path: ROOT_PATH, above: undefined, inPlace: true };
  const ways = new PathMemo<DirectoryRecord | undefined>(top, (above, name) => {
    const held = above && recordIn(above, name);
    if (held?.inPlace) found.set(held.inode, held);
    return held;
  });
  const looked = new Set<Inode>();
  for (const path of paths) {
    const at = ways.at(path);
    const waiting = at === undefined ? [] : [at];
    for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
      if (counter.count()) yield;
      if (looked.has(dir.inode)) continue;
      looked.add(dir.inode);
      if (dir.inode.subdirs === 0) continue;
      for (const [name, entry] of dir.inode.requireEntries().found()) {
        if (counter.count()) yield;
        if (entry === WHITEOUT || !entry.isDirectory) continue;
        const held = recordIn(dir, name);
        if (held === undefined) continue;
        found.set(held.inode, held);
        waiting.push(held);
      }
    }
    if (counter.count()) yield;
  }
  return yield* longestFirst(found.values(), counter);
}

function* longestFirst(all: Iterable<DirectoryRecord>, counter: StepCounter): Steps<DirectoryRecord[]> {
  const byLength: DirectoryRecord[][] = [];
  for (const held of all) {
    const { length } = held.path;
    byLength[length] ??= [];
    byLength[length].push(held);
    if (counter.count()) yield;
  }
  const ordered: DirectoryRecord[] = [];
  for (const same of byLength.reverse()) {
    for (const held of same ?? []) {
      ordered.push(held);
      if (counter.count()) yield;
    }
  }
  return ordered;
}

function recordIn(dir: DirectoryRecord, name: ByteString): DirectoryRecord | undefined {
  const inode = dir.inode.requireEntries().get(name);
  if (inode === undefined || inode === WHITEOUT || !inode.isDirectory) return undefined;
  const path = joinPath(dir.path, name);
  // Longer paths come from older servers. The base has none, and building a path for each costs the square of the
  // depth.
  if (path.length > MAX_PATH_BYTES) return undefined;
  const inPlace = dir.inPlace && (inode.origin === undefined ? inode.merges === true : inode.origin === path);
  return inPlace ? { inode, path, above: { dir: dir.inode, name }, inPlace } : undefined;
}

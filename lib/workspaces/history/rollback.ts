import { type ByteString, joinPath } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { WRITE } from '../../permissions/index.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';
import type { LayeredNodeTree } from '../nodes/layered-node-tree.ts';
import { NodeSet } from '../nodes/node-set.ts';
import { recordOlderDirectories } from './older-directories.ts';
import { fitToBase } from './unused-directories.ts';

/** Nodes examined in one step. */
const ITEMS_PER_STEP = 16;
/** Files of whose contents programs that watch are told. */
const MOST_TOLD = 16_384;

/** What the kernel may cache of a directory besides its nodes. */
interface Known {
  /** Entries of a table that does not change any more. */
  entries: Inode['entries'];
  basePath: ByteString | undefined;
}

/**
 * Rolls the delta back to a frozen layer, in steps. Nodes are bound to what their names resolve to now; nodes without a
 * counterpart of the same type expire. Throws Damage and host errors; RESOURCE_EXHAUSTED is the caller's.
 */
export function* rollback(workspace: LayeredWorkspace, layer: string): Steps<void> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const { delta, tree, shared } = workspace;
  // Handles of API clients become invalid; staged files belong to the replaced state.
  workspace.handles.closeAll(tree);
  workspace.warnReaders();
  workspace.unpackings.endAll();
  const before = new Map<LayeredNode, Known>();
  const versions = new Map<LayeredNode, string>();
  for (const node of tree.nodes()) {
    if (counter.count()) yield;
    // The others in `rebind`: those that show the base will mostly do so again.
    if (node.inode !== undefined) tree.numbers.keep(node);
    if (!node.isDirectory) {
      if (node.nlookup > 0 && versions.size < MOST_TOLD) versions.set(node, versionOf(node));
      continue;
    }
    before.set(node, { entries: node.inode?.entries, basePath: node.basePath });
  }
  const orphans = new NodeSet<LayeredNode>();
  for (const node of tree.orphans) {
    orphans.add(node);
    if (counter.count()) yield;
  }
  yield* delta.layers.rollingBack(layer);
  workspace.countChange();
  tree.reset();
  if (delta.older) yield* recordOlderDirectories(workspace);
  yield* fitToBase(workspace);
  const shown = new NodeSet<LayeredNode>();
  shown.add(tree.root);
  const waiting = [tree.root];
  for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
    shared.notifier.invalInode(dir.id);
    const told = new Set<ByteString>();
    for (const [name, child] of dir.children ?? []) {
      if (counter.count()) yield;
      const first = !shown.has(child);
      if (!tree.rebind(child, dir, name, shown)) {
        child.removeLink(dir, name);
        shared.notifier.invalEntry(dir.id, name);
        orphans.add(child);
        shared.teller.changed(workspace, dir, name, child.type, modeAt(workspace, dir, name));
        told.add(name);
      } else if (first) {
        if (child.isDirectory) waiting.push(child);
        else renewFile(workspace, dir, name, child, versions);
      }
    }
    yield* tellNames(workspace, dir, before.get(dir)!);
    yield* tellWatchers(workspace, dir, before.get(dir)!, told);
  }
  for (const node of orphans) {
    if (node.links.length === 0) yield* expireTree(workspace, tree, node, counter);
    if (counter.count()) yield;
  }
  // Last, because the nodes must match the delta even if this throws.
  yield* delta.layers.confirming();
}

function renewFile(
  workspace: LayeredWorkspace,
  dir: LayeredNode,
  name: ByteString,
  file: LayeredNode,
  versions: ReadonlyMap<LayeredNode, string>,
): void {
  const { notifier, teller } = workspace.shared;
  notifier.invalInode(file.id);
  const { mode } = file.shown;
  if (versions.has(file) && versions.get(file) !== versionOf(file)) teller.changed(workspace, dir, name, mode, mode);
}

/** Differs if the contents of a file do. */
function versionOf({ shown: { size, mtime, mode } }: LayeredNode): string {
  return `${size} ${mtime.sec} ${mtime.nsec} ${mode}`;
}

/** The mode of what has a name now. */
function modeAt({ tree }: LayeredWorkspace, dir: LayeredNode, name: ByteString): number | undefined {
  const found = tree.find(dir, name, WRITE);
  return (found?.inode ?? found?.base)?.mode;
}

/** Tells programs that watch of the names that have no node, besides those in `told`. */
function* tellWatchers(
  workspace: LayeredWorkspace,
  dir: LayeredNode,
  before: Known,
  told: Set<ByteString>,
): Steps<void> {
  if (dir.nlookup === 0) return;
  const counter = new StepCounter(ITEMS_PER_STEP);
  for (const entries of [before.entries, dir.inode?.entries]) {
    for (const [name] of entries?.found() ?? []) {
      if (counter.count()) yield;
      if (dir.children?.has(name) || told.has(name)) continue;
      told.add(name);
      const entry = before.entries?.get(name);
      const path = before.basePath === undefined ? undefined : joinPath(before.basePath, name);
      const shown = entry === undefined && path !== undefined ? workspace.base.lstat(path) : entry;
      const after = modeAt(workspace, dir, name);
      if (entry !== undefined || dir.inode?.entries?.has(name))
        workspace.shared.teller.changed(workspace, dir, name, shown?.mode, after);
    }
  }
}

/**
 * Tells the kernel of the names that may exist now and of which it may hold a negative dentry. A name that existed before
 * has one only if rules hid it; then it may have a node, too.
 */
function* tellNames(workspace: LayeredWorkspace, dir: LayeredNode, before: Known): Steps<void> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const { hiddenMisses } = dir;
  const all = hiddenMisses === 'many';
  const now = dir.inode?.entries;
  const tell = (name: ByteString) => {
    if (hiddenMisses !== undefined || !dir.children?.has(name)) workspace.shared.notifier.invalEntry(dir.id, name);
  };
  if (!all) hiddenMisses?.forEach(tell);
  for (const [name, entry] of before.entries?.found() ?? []) {
    if (all || (entry === WHITEOUT && now?.get(name) !== WHITEOUT)) tell(name);
    if (counter.count()) yield;
  }
  for (const [name, entry] of now?.found() ?? []) {
    if (entry !== WHITEOUT && (all || before.entries?.has(name) !== true)) tell(name);
    if (counter.count()) yield;
  }
  if (before.basePath === dir.basePath || dir.basePath === undefined) return;
  for (const { name } of yield* workspace.base.reading(dir.basePath)) {
    if (all || before.entries?.has(name) !== true) tell(name);
    if (counter.count()) yield;
  }
}

/** Expires a node and everything below it that has no other link. */
function* expireTree(
  workspace: LayeredWorkspace,
  tree: LayeredNodeTree,
  top: LayeredNode,
  counter: StepCounter,
): Steps<void> {
  const { notifier } = workspace.shared;
  const waiting = [top];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    for (const [name, child] of node.children ?? []) {
      notifier.invalEntry(node.id, name);
      child.removeLink(node, name);
      if (child.links.length === 0) waiting.push(child);
      if (counter.count()) yield;
    }
    notifier.invalInode(node.id);
    tree.expire(node);
    if (counter.count()) yield;
  }
}

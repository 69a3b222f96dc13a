import { type ByteString, joinPath } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory, S_IFMT } from '../../linux/mode.ts';
import type { BaseStat } from '../base/base.ts';
import { DividedList } from '../divided-list.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';
import type { OpenWorkspace } from '../open-workspace.ts';

/** Names examined in one step. */
const ITEMS_PER_STEP = 16;

/**
 * Called after a name was removed from the delta: its node and all nodes below show the base from now on. A node
 * without a base entry of the same type becomes an orphan. `known`: the base entry, if the caller knows it. `done`
 * collects the updated nodes.
 */
export function* showBase(
  workspace: OpenWorkspace,
  top: LayeredNode,
  topName: ByteString,
  known?: { stat: BaseStat | undefined },
  done?: Set<LayeredNode>,
): Steps<void> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  // The tree can be deeper than the stack, so there is no recursion.
  const waiting = new DividedList<[LayeredNode, ByteString]>();
  waiting.push([top, topName]);
  for (let next = waiting.pop(), stat = known; next !== undefined; next = waiting.pop(), stat = undefined) {
    const [dir, name] = next;
    const directory = yield* showName(workspace, dir, name, stat);
    const node = dir.children?.get(name);
    if (node !== undefined) done?.add(node);
    if (counter.count()) yield;
    for (const below of directory?.children?.keys() ?? []) {
      waiting.push([directory!, below]);
      if (counter.count()) yield;
    }
  }
}

/** Updates one node. Returns it if it is a directory, whose entries must be updated, too. */
function* showName(
  workspace: OpenWorkspace,
  dir: LayeredNode,
  name: ByteString,
  known: { stat: BaseStat | undefined } | undefined,
): Steps<LayeredNode | undefined> {
  const { base, tree, shared, delta } = workspace;
  const path = dir.basePath === undefined ? undefined : joinPath(dir.basePath, name);
  const stat = known !== undefined ? known.stat : path === undefined ? undefined : base.lstat(path);
  const node = dir.children?.get(name);
  if (stat === undefined) dir.listing?.remove(name);
  else dir.listing?.add(name, stat.mode & S_IFMT);
  shared.notifier.invalInode(dir.id);
  if (node === undefined) {
    shared.notifier.invalEntry(dir.id, name);
    return undefined;
  }
  const same = stat !== undefined && (stat.mode & S_IFMT) === node.type;
  if (same && isDirectory(stat.mode)) {
    tree.binding.revertToBase(node, path!, stat);
    node.outdateListing();
    shared.notifier.invalInode(node.id);
    return node;
  } else if (same && node.links.length === 1 && (node.inode?.names ?? 0) === 0 && stat.nlink === 1) {
    const { inode } = node;
    tree.binding.revertToBase(node, path!, stat);
    node.agentLevel = dir.agentRuleOf(name).level;
    if (inode !== undefined) delta.release(inode);
  } else {
    yield* detachBelow(workspace, node);
    tree.detach(node, dir, name);
    shared.notifier.dropEntry(dir.id, name);
  }
  shared.notifier.invalInode(node.id);
  return undefined;
}

/** Detaches everything below a removed directory. */
export function* detachBelow(workspace: OpenWorkspace, top: LayeredNode): Steps<void> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const below = new DividedList<[dir: LayeredNode, name: ByteString, child: LayeredNode]>();
  const waiting = new DividedList<LayeredNode>();
  waiting.push(top);
  for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
    for (const [name, child] of dir.children ?? []) {
      below.push([dir, name, child]);
      if (child.children !== undefined) waiting.push(child);
      if (counter.count()) yield;
    }
  }
  // Bottom-up.
  for (let last = below.pop(); last !== undefined; last = below.pop()) {
    const [dir, name, child] = last;
    workspace.tree.detach(child, dir, name);
    workspace.shared.notifier.dropEntry(dir.id, name);
    if (counter.count()) yield;
  }
}

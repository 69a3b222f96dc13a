import { type ByteString, joinPath } from '../../byte-string.ts';
import { Counted, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory, S_IFMT } from '../../linux/mode.ts';
import type { BaseStat } from '../base/base.ts';
import type { Node } from '../nodes/node.ts';
import { nodesFrom } from '../nodes/node-tree.ts';
import type { OpenWorkspace } from '../open-workspace.ts';

/** Names looked at in one step. */
const AT_ONCE = 16;

/**
 * After the delta let go of a name: the nodes the kernel knows there, and below, show the base from now on. One that has
 * nothing to show, or would have to show something of another kind, lives on for those who have it open. `known`: what
 * the base has by that name, when the caller has looked. `done` takes up the nodes that show it.
 */
export function* showBase(
  workspace: OpenWorkspace,
  top: Node,
  topName: ByteString,
  known?: { stat: BaseStat | undefined },
  done?: Set<Node>,
): Steps<void> {
  const counted = new Counted(AT_ONCE);
  // Trees can be deeper than any stack: nothing here calls itself.
  const waiting: [Node, ByteString][] = [[top, topName]];
  for (let next = waiting.pop(), stat = known; next !== undefined; next = waiting.pop(), stat = undefined) {
    const [dir, name] = next;
    const directory = yield* showName(workspace, dir, name, stat);
    const node = dir.children?.get(name);
    if (node !== undefined) done?.add(node);
    if (directory !== undefined) pushNames(waiting, directory);
    yield* counted.one();
  }
}

function pushNames(waiting: [Node, ByteString][], dir: Node): void {
  for (const name of dir.children?.keys() ?? []) waiting.push([dir, name]);
}

/** Returns the node of a directory that shows the base again, so that what is in it must, too. */
function* showName(
  workspace: OpenWorkspace,
  dir: Node,
  name: ByteString,
  known: { stat: BaseStat | undefined } | undefined,
): Steps<Node | undefined> {
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
    tree.revertToBase(node, path!, stat);
    node.listing = undefined;
    shared.notifier.invalInode(node.id);
    return node;
  } else if (same && node.links.length === 1 && (node.inode?.names ?? 0) === 0 && stat.nlink === 1) {
    const { inode } = node;
    tree.revertToBase(node, path!, stat);
    node.agentLevel = dir.agentRuleOf(name).level;
    if (inode !== undefined) delta.release(inode);
  } else {
    yield* letGo(workspace, node);
    tree.detach(node, dir, name);
    shared.notifier.dropEntry(dir.id, name);
  }
  shared.notifier.invalInode(node.id);
  return undefined;
}

/** A directory that is gone has nothing in it. */
export function* letGo(workspace: OpenWorkspace, top: Node): Steps<void> {
  const counted = new Counted(AT_ONCE);
  const below: [dir: Node, name: ByteString, child: Node][] = [];
  for (const dir of nodesFrom(top)) {
    for (const [name, child] of dir.children ?? []) {
      below.push([dir, name, child]);
      yield* counted.one();
    }
  }
  // From the inside out.
  for (const [dir, name, child] of below.reverse()) {
    workspace.tree.detach(child, dir, name);
    workspace.shared.notifier.dropEntry(dir.id, name);
    yield* counted.one();
  }
}

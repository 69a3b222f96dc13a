import { type DirectoryEntry, identical } from '../../../trees/format/entry.ts';
import type { Key } from '../../../trees/format/keys.ts';
import type { Root } from '../journal/records.ts';
import type { LiveTree } from '../live-tree.ts';
import type { HeadMove } from './head-move.ts';
import { planSwap } from './swap.ts';
import { planTake } from './take.ts';

/**
 * Head has moved: the tree has what `follow` would give it, and base is head. Answers false, with nothing changed, where
 * that needs more than `planTake` can do; then the tree is frozen, followed elsewhere, and swapped.
 */
export function take(tree: LiveTree, move: HeadMove, version: number): boolean {
  requireRooted(tree);
  const { root, base } = tree;
  if (!identical(base.base, move.from)) return false;
  const clean = root.patch.size === 0 && identical(root.entry, move.from);
  const run = planTake(tree, move);
  if (run === undefined) return false;
  run();
  tree.recordLater({ version, base: move.to }, clean);
  return true;
}

/** Only base is another one: a commit of the sandbox has moved head to what the sandbox had when it was frozen. */
export function rebase(tree: LiveTree, root: Root): void {
  tree.append({ op: 'base', takes: false, ...root }, true);
  tree.base = root;
}

/**
 * What was made of the tree when it was frozen as `from` takes its place; what has changed since stays. Answers false, with
 * nothing changed, if both changed the same, or if head has moved since. Both trees are durable.
 */
export function swap(tree: LiveTree, from: Key, mine: DirectoryEntry, root: Root): boolean {
  requireRooted(tree);
  const run = planSwap(tree, from, mine);
  if (run === undefined) return false;
  tree.append({ op: 'root', from, mine, ...root }, true);
  run();
  tree.base = root;
  return true;
}

/** The caller waits for the freeze, or after an opening for a sync. */
function requireRooted({ journal }: LiveTree): void {
  if (!journal.isRooted) throw new Error('trees are exchanged when the root of the last freeze is durable');
}

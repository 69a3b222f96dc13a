import type { PermissionRule } from '../../messages.ts';
import { compileRules, type RuleState, VIEW } from '../../permissions/index.ts';
import { mergedListing } from './merged-listing.ts';
import { isDirectory } from './mode.ts';
import type { Node } from './node.ts';
import { isVisible } from './visibility.ts';
import type { Workspace } from './workspace.ts';

interface Before {
  level: number;
  rule: RuleState | undefined;
}

/**
 * New rules for a workspace. The kernel is told to forget what it may no longer show or can show now; a directory that
 * stays visible keeps its name in the kernel, so that processes working in it still know where they are.
 * Throws INVALID_ARGUMENT, with the old rules still in force.
 */
export function setRules(workspace: Workspace, rules: readonly PermissionRule[]): void {
  const compiled = compileRules(rules);
  if (!workspace.isOpen) {
    workspace.rules = compiled;
    return;
  }
  const before = new Map<Node, Before>();
  for (const node of workspace.tree.nodes()) before.set(node, { level: node.level, rule: node.rule });
  workspace.rules = compiled;
  workspace.tree.setRules();
  for (const [node, was] of before) tell(workspace, node, was, before);
}

function tell(workspace: Workspace, node: Node, was: Before, before: ReadonlyMap<Node, Before>): void {
  const { notifier } = workspace.shared;
  for (const { parent, name } of node.links) {
    const old = before.get(parent)?.rule;
    if (old === undefined) continue;
    const visible = isVisible(parent.rule!.child(name), node.isDirectory);
    if (isVisible(old.child(name), node.isDirectory) !== visible) notifier.invalEntry(parent.id, name);
  }
  if (node.isDirectory) tellDirectory(workspace, node, was.rule!);
  else if (was.level !== node.level) notifier.invalInode(node.id);
}

function tellDirectory(workspace: Workspace, dir: Node, old: RuleState): void {
  const { notifier } = workspace.shared;
  const rule = dir.rule!;
  const { uniformBelow } = rule;
  if (uniformBelow !== undefined && uniformBelow === old.uniformBelow && rule.level === old.level) return;
  notifier.invalInode(dir.id);
  if ((old.uniformBelow ?? 0) >= VIEW || (dir.links.length === 0 && dir !== workspace.tree.root)) return;
  // Names the kernel was told are not there. Those it knows are told one by one.
  for (const { name, type } of mergedListing(workspace, dir).values()) {
    if (dir.children?.has(name)) continue;
    const directory = isDirectory(type);
    if (!isVisible(old.child(name), directory) && isVisible(rule.child(name), directory)) {
      notifier.invalEntry(dir.id, name);
    }
  }
}

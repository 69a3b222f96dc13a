import type { ByteString } from '../../byte-string.ts';
import type { PermissionRule } from '../../contract/messages.ts';
import { Counted, complete, type Steps } from '../../fuse/connection/steps.ts';
import type { Notifier } from '../../fuse/filesystem.ts';
import { compileRules, type Level, type RuleState, strictest, VIEW } from '../../permissions/index.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';
import { AGENT } from './access.ts';
import { deniedNames } from './negative-entries.ts';
import { isVisible, isVisibleNode } from './visibility.ts';

/** Files of one directory that may wait to be told: a request for the directory then takes some milliseconds at most. */
const MAX_UNTOLD = 4096;
/** Nodes looked at in one step. */
const AT_ONCE = 64;

/**
 * New rules for a workspace. Throws INVALID_ARGUMENT, with the old rules still in force.
 *
 * The kernel is told of directories, and of files whose contents it may hold. All other files (a sandbox may have a hundred
 * thousand cached) wait until somebody walks through their directory: that asks for the directory's attributes, which the
 * kernel has no longer, and the files are told before it gets them (`tellChildren`). A directory that stays visible keeps
 * its name in the kernel, so that processes working in it still know where they are. (FUSE_NOTIFY_INC_EPOCH would be one
 * message, but for the whole mount: all other sandboxes would lose their names, attributes and pages too.)
 */
export function* setRules(workspace: Workspace, rules: readonly PermissionRule[]): Steps<void> {
  const compiled = compileRules(rules);
  workspace.rules = compiled;
  if (!workspace.isOpen) return;
  const { tree, shared } = workspace;
  tree.renewLevels();
  yield* renewBelow(workspace, tree.root, compiled.root);
  for (const node of tree.loose) {
    const state = workspace.stateOf(tree.pathOf(node));
    if (node.isDirectory) {
      yield* renewBelow(workspace, node, state);
    } else {
      const shown = node.inode === undefined && node.basePath !== undefined;
      const level = shown ? strictest(state.level, workspace.stateOf(node.basePath!).level) : state.level;
      if (yield* renewLevel(workspace, node, level)) yield* tellFile(shared.notifier, node);
    }
  }
}

/** After the owner moved what the rules would not have let move: all of it comes under those of its new place. */
export function renewMoved(workspace: Workspace, node: Node): void {
  complete(renew(workspace, node));
}

function* renew(workspace: Workspace, node: Node): Steps<void> {
  const link = node.links[0]!;
  const state = link.parent.agentRule!.child(link.name);
  workspace.tree.renewLevels();
  if (node.isDirectory) {
    yield* renewBelow(workspace, node, state);
    workspace.tree.levelLinks();
  } else if (yield* renewLevel(workspace, node, state.level)) yield* tellFile(workspace.shared.notifier, node);
}

/**
 * All directories first: the level of a file with several names, which is found once, is then that of all of them. Trees
 * can be deeper than any stack: nothing here calls itself.
 */
function* renewBelow(workspace: Workspace, top: Node, state: RuleState): Steps<void> {
  const counted = new Counted(AT_ONCE);
  const renewed: [dir: Node, was: RuleState][] = [];
  const renewDirectory = (dir: Node, to: RuleState) => {
    renewed.push([dir, dir.agentShownRule]);
    workspace.tree.ruleDirectory(dir, to);
  };
  renewDirectory(top, state);
  // It grows while it is gone through.
  for (const [dir] of renewed) {
    for (const [name, child] of dir.children ?? []) {
      yield* counted.one();
      if (!child.isDirectory) continue;
      const before = isVisibleNode(AGENT, child);
      renewDirectory(child, dir.agentRule!.child(name));
      if (before !== isVisibleNode(AGENT, child)) workspace.shared.notifier.invalEntry(dir.id, name);
    }
  }
  const linked = new Set<Node>();
  for (const [dir, was] of renewed) {
    const untold = yield* renewFiles(workspace, dir, linked, counted);
    yield* tellDirectory(workspace, dir, was, yield* leftUntold(workspace, untold));
  }
}

/** Answers which files of the directory are to be told. `linked`: files with several names that have their level. */
function* renewFiles(workspace: Workspace, dir: Node, linked: Set<Node>, counted: Counted): Steps<Set<Node>> {
  const { uniformBelow } = dir.agentRule!;
  const levelOf = (name: ByteString) =>
    dir.baseRule === undefined && uniformBelow !== undefined ? uniformBelow : dir.agentRuleOf(name).level;
  const untold = new Set<Node>();
  for (const [name, child] of dir.children ?? []) {
    yield* counted.one();
    if (child.isDirectory) continue;
    const isNew = !linked.has(child);
    if (child.links.length > 1) linked.add(child);
    if ((isNew && (yield* renewLevel(workspace, child, levelOf(name)))) || child.untold) untold.add(child);
  }
  return untold;
}

/** Whether the level is another. */
function* renewLevel({ tree }: Workspace, file: Node, ofPath: Level): Steps<boolean> {
  const level = yield* tree.findFileLevel(file, ofPath);
  if (level === file.agentLevel) return false;
  tree.setLevel(file, level);
  file.untold = true;
  file.stale = level < VIEW;
  return true;
}

/** Tells what cannot wait, and returns what can. */
function* leftUntold({ shared }: Workspace, files: ReadonlySet<Node>): Steps<Node[] | undefined> {
  const waiting: Node[] = [];
  for (const file of files) {
    if (file.paged || files.size > MAX_UNTOLD) yield* tellFile(shared.notifier, file);
    else waiting.push(file);
  }
  return waiting.length === 0 ? undefined : waiting;
}

function* tellFile(notifier: Notifier, file: Node): Steps<void> {
  const counted = new Counted(AT_ONCE);
  for (const { parent, name } of file.stale ? file.links : []) {
    notifier.invalEntry(parent.id, name);
    yield* counted.one();
  }
  notifier.invalInode(file.id);
  file.untold = file.stale = false;
  yield;
}

function* tellDirectory(workspace: Workspace, dir: Node, was: RuleState, untold: Node[] | undefined): Steps<void> {
  const counted = new Counted(AT_ONCE);
  const { notifier } = workspace.shared;
  const rule = dir.agentShownRule;
  const { uniformBelow } = rule;
  dir.untoldChildren = untold;
  const same = uniformBelow !== undefined && uniformBelow === was.uniformBelow && rule.level === was.level;
  if (same && untold === undefined) return;
  notifier.invalInode(dir.id);
  for (const name of yield* deniedNames(workspace, dir)) {
    if (isVisible(dir.agentRuleOf(name), true)) notifier.invalEntry(dir.id, name);
    yield* counted.one();
  }
}

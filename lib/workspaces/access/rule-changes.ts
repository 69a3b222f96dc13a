import type { ByteString } from '../../byte-string.ts';
import type { PermissionRule } from '../../contract/messages.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import type { Notifier } from '../../fuse/filesystem.ts';
import { compiling, isRedactedLevel, type Level, type RuleSet, type RuleState, VIEW } from '../../permissions/index.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';
import { AGENT } from './access.ts';
import { hiddenMisses } from './negative-entries.ts';
import { isVisible, isVisibleNode } from './visibility.ts';

/**
 * Limit of pending invalidations in one directory, which bounds the time of a request for the directory to some
 * milliseconds.
 */
const MAX_PENDING = 4096;
/** Nodes examined in one step. */
const ITEMS_PER_STEP = 64;

/**
 * Sets new rules. Throws INVALID_ARGUMENT for invalid ones; the old rules then stay in force.
 *
 * Only directories, and files whose contents the kernel may cache, are invalidated at once. Of the other files a
 * sandbox may have a hundred thousand cached. They wait until a program walks through their directory: the kernel then
 * requests the directory's attributes, which were invalidated, and the files are invalidated before the reply
 * (`invalidateChildren`). A directory that stays visible keeps its dentry, so that getcwd(2) works in processes below
 * it. (FUSE_NOTIFY_INC_EPOCH would be a single message, but invalidates the dentries of all other sandboxes of the
 * mount, too.)
 */
export function* setRules(workspace: Workspace, rules: readonly PermissionRule[]): Steps<void> {
  const compiled = yield* compiling(rules);
  workspace.setRules(rules, compiled);
  if (!workspace.isOpen) return;
  try {
    yield* applyRules(workspace, compiled);
  } finally {
    workspace.warnReaders();
  }
}

function* applyRules(workspace: Workspace, compiled: RuleSet): Steps<void> {
  const { tree, shared } = workspace;
  tree.levels.reset();
  yield* applyRulesBelow(workspace, tree.root, compiled.root);
  for (const node of tree.orphans) {
    if (node.isDirectory) yield* applyRulesBelow(workspace, node, workspace.stateOf(tree.pathOf(node)));
    else if (yield* updateLevel(workspace, node, tree.levelOfOrphan(node)))
      yield* invalidateFile(shared.notifier, node);
  }
}

/**
 * Applies the rules of its new path to a node that the owner moved, and to everything below it, in steps. The caller
 * holds the workspace from the move on.
 */
export function* applyRulesToMoved(workspace: Workspace, node: Node): Steps<void> {
  const link = node.links[0]!;
  const state = link.parent.requireAgentRule().child(link.name);
  workspace.tree.levels.reset();
  if (node.isDirectory) {
    yield* applyRulesBelow(workspace, node, state);
    workspace.tree.levels.updateAll();
  } else if (yield* updateLevel(workspace, node, state.level)) yield* invalidateFile(workspace.shared.notifier, node);
}

/**
 * Applies rules to a directory and everything below. All directories come first: the level of a file with several links
 * is computed once and must be final. The tree can be deeper than the stack, so there is no recursion.
 */
function* applyRulesBelow(workspace: Workspace, top: Node, state: RuleState): Steps<void> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const renewed: [dir: Node, was: RuleState][] = [];
  const renewDirectory = (dir: Node, to: RuleState) => {
    renewed.push([dir, dir.agentShownRule]);
    dir.applyRule(workspace.rules, to);
  };
  renewDirectory(top, state);
  // Grows during the loop.
  for (const [dir] of renewed) {
    for (const [name, child] of dir.children ?? []) {
      if (counter.count()) yield;
      if (!child.isDirectory) continue;
      const before = isVisibleNode(AGENT, child);
      renewDirectory(child, dir.requireAgentRule().child(name));
      if (before !== isVisibleNode(AGENT, child)) workspace.shared.notifier.invalEntry(dir.id, name);
    }
  }
  const linked = new Set<Node>();
  for (const [dir, was] of renewed) {
    const untold = yield* updateFileLevels(workspace, dir, linked, counter);
    yield* invalidateDirectory(workspace, dir, was, yield* invalidateUrgent(workspace, untold));
  }
}

/**
 * Updates the levels of the files in a directory and returns those to invalidate. `linked`: files with several links
 * that already have their level.
 */
function* updateFileLevels(workspace: Workspace, dir: Node, linked: Set<Node>, counter: StepCounter): Steps<Set<Node>> {
  const { agentShownRule } = dir;
  // Of other rules than those of its path, entries that the sandbox made have a higher level.
  const uniform = agentShownRule === dir.agentRule ? agentShownRule.uniformBelow : undefined;
  const levelOf = (name: ByteString) => uniform ?? dir.agentRuleOf(name).level;
  const untold = new Set<Node>();
  for (const [name, child] of dir.children ?? []) {
    if (counter.count()) yield;
    if (child.isDirectory) continue;
    const isNew = !linked.has(child);
    if (child.links.length > 1) linked.add(child);
    if ((isNew && (yield* updateLevel(workspace, child, levelOf(name)))) || child.needsInvalidation) untold.add(child);
  }
  return untold;
}

/** Updates the level of a file and returns whether what the kernel has cached may no longer be right. */
function* updateLevel({ tree }: Workspace, file: Node, ofPath: Level): Steps<boolean> {
  const level = yield* tree.levels.finding(file, ofPath);
  // With a new redactor the file has other contents at the same level.
  if (level === file.agentLevel && !isRedactedLevel(level)) return false;
  tree.levels.set(file, level);
  file.needsInvalidation = true;
  file.staleDentry = level < VIEW;
  return true;
}

/** Invalidates the files that cannot wait and returns the others. */
function* invalidateUrgent({ shared }: Workspace, files: ReadonlySet<Node>): Steps<Node[] | undefined> {
  const waiting: Node[] = [];
  for (const file of files) {
    if (file.mayHavePages || files.size > MAX_PENDING) yield* invalidateFile(shared.notifier, file);
    else waiting.push(file);
  }
  return waiting.length === 0 ? undefined : waiting;
}

function* invalidateFile(notifier: Notifier, file: Node): Steps<void> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  for (const { parent, name } of file.staleDentry ? file.links : []) {
    notifier.invalEntry(parent.id, name);
    if (counter.count()) yield;
  }
  notifier.invalInode(file.id);
  file.needsInvalidation = file.staleDentry = false;
  yield;
}

function* invalidateDirectory(
  workspace: Workspace,
  dir: Node,
  was: RuleState,
  untold: Node[] | undefined,
): Steps<void> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const { notifier } = workspace.shared;
  const rule = dir.agentShownRule;
  const { uniformBelow } = rule;
  dir.pendingInvalidations = untold;
  const same = uniformBelow !== undefined && uniformBelow === was.uniformBelow && rule.level === was.level;
  if (same && untold === undefined && !dir.listsLinks) return;
  notifier.invalInode(dir.id);
  workspace.shared.teller.ruled(workspace, dir, was);
  for (const name of yield* hiddenMisses(workspace, dir)) {
    if (isVisible(dir.agentRuleOf(name), true)) notifier.invalEntry(dir.id, name);
    if (counter.count()) yield;
  }
}

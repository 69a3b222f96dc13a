import { joinPath, ROOT_PATH } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { type RuleSet, type RuleState, strictest } from '../../permissions/index.ts';
import type { Node } from './node.ts';

/** Nodes examined in one step. */
const NODES_PER_STEP = 16;

/**
 * Applies the rules of its new path to a moved directory and to all known directories below, in steps, during which the
 * caller prevents other use of them. Files keep their level: everything that moves is WRITE before and after.
 */
export function* applyRuleBelow(rules: RuleSet, top: Node, topState: RuleState): Steps<void> {
  const counter = new StepCounter(NODES_PER_STEP);
  applyRule(rules, top, topState);
  const waiting = [top];
  for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
    for (const [name, child] of dir.children ?? []) {
      if (counter.count()) yield;
      if (!child.isDirectory) continue;
      applyRule(rules, child, dir.requireAgentRule().child(name));
      waiting.push(child);
    }
  }
}

/**
 * Sets the rules of a directory by its path and by the base directory that it shows. The rules of its parent must be
 * set before.
 */
export function applyRule(rules: RuleSet, dir: Node, byPath: RuleState): void {
  dir.agentRule = byPath;
  dir.baseRule = baseRuleOf(rules, dir);
  const changed = dir.inode !== undefined || dir.baseRule === undefined;
  dir.agentLevel = changed ? byPath.level : strictest(byPath.level, dir.baseRule!.level);
}

/**
 * Returns the rules of the base directory if they differ from those of the path. Without a renamed parent they do
 * not, and this is cheap.
 */
function baseRuleOf(rules: RuleSet, dir: Node): RuleState | undefined {
  const { basePath } = dir;
  const link = dir.links[0];
  if (basePath === undefined || basePath === ROOT_PATH) return undefined;
  const above = link?.parent;
  const follows =
    above?.basePath !== undefined && (dir.inode === undefined || basePath === joinPath(above.basePath, link!.name));
  if (follows && above.baseRule === undefined) return undefined;
  const state = follows ? above.baseRule!.child(link!.name) : rules.state(basePath);
  return state === dir.agentRule ? undefined : state;
}

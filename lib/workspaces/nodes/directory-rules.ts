import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import type { RuleSet, RuleState } from '../../permissions/index.ts';
import type { Node } from './node.ts';

/** Nodes examined in one step. */
const NODES_PER_STEP = 16;

/**
 * Applies the rules of its new path to a moved directory and to all known directories below, in steps, during which the
 * caller prevents other use of them. Files keep their level: everything that moves is WRITE before and after.
 */
export function* applyRuleBelow(rules: RuleSet, top: Node, topState: RuleState): Steps<void> {
  const counter = new StepCounter(NODES_PER_STEP);
  top.applyRule(rules, topState);
  const waiting = [top];
  for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
    for (const [name, child] of dir.children ?? []) {
      if (counter.count()) yield;
      if (!child.isDirectory) continue;
      child.applyRule(rules, dir.requireAgentRule().child(name));
      waiting.push(child);
    }
  }
}

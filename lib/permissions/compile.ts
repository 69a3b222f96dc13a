import type { PermissionRule } from '../messages.ts';
import type { RuleSet } from './rule-set.ts';

/** Throws INVALID_ARGUMENT naming `permissions[i]` and why. Skeleton: the implementation follows. */
export function compileRules(rules: readonly PermissionRule[]): RuleSet {
  throw new Error(`not there yet (${rules.length} rules)`);
}

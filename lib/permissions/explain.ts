import type { ByteString } from '../fuse/filesystem.ts';
import type { Permission, PermissionRule } from '../messages.ts';
import type { RuleSet } from './rule-set.ts';

/** A rule with its place in the list it was given in. */
export interface PlacedRule {
  index: number;
  rule: PermissionRule;
}

export interface Explanation {
  permission: Permission;
  /** undefined: no rule matches, so the permission is PERMISSION_NONE. */
  winner: PlacedRule | undefined;
  /** The other rules that match, best first. */
  beaten: PlacedRule[];
  /** The path itself is NONE, but something below it can be visible: a directory here is listed and entered. */
  passThrough: boolean;
  /** One or two sentences for people. */
  reason: string;
}

/** Why `path` has the permission it has. Pure: the path need not exist. Skeleton: the implementation follows. */
export function explain(ruleSet: RuleSet, path: ByteString): Explanation {
  throw new Error(`not there yet (${ruleSet.rules.length} rules, ${path})`);
}

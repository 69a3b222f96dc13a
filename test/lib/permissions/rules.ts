import { fromText } from '../../../lib/byte-string.ts';
import type { PermissionRule } from '../../../lib/contract/messages.ts';
import { compileRules, permissionOf } from '../../../lib/permissions/index.ts';

type Short = 'NONE' | 'VIEW' | 'READ' | 'WRITE';

function rule(type: 'GLOB' | 'DIRECTORY' | 'FILE', pattern: string, permission: Short, priority = 0): PermissionRule {
  return { pattern, type: `PATTERN_${type}`, permission: `PERMISSION_${permission}`, priority };
}

export const glob = (pattern: string, permission: Short, priority = 0) => rule('GLOB', pattern, permission, priority);
export const directory = (pattern: string, permission: Short, priority = 0) =>
  rule('DIRECTORY', pattern, permission, priority);
export const file = (pattern: string, permission: Short, priority = 0) => rule('FILE', pattern, permission, priority);

export function decided(rules: PermissionRule[], path: string): string {
  return permissionOf(compileRules(rules).decide(fromText(path))).replace('PERMISSION_', '');
}

/** Whether a single rule matches the path. */
export function matches(rule: PermissionRule, path: string): boolean {
  return compileRules([rule]).matching(fromText(path)).length === 1;
}

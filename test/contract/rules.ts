import type { PatternType, Permission, PermissionRule } from '../../lib/contract/messages.ts';

/** A rule: `path/` is DIRECTORY, anything with a wildcard GLOB, the rest FILE. */
function rule(permission: Permission, pattern: string, priority: number): PermissionRule {
  const type: PatternType = pattern.endsWith('/')
    ? 'PATTERN_DIRECTORY'
    : /[*?[{]/.test(pattern)
      ? 'PATTERN_GLOB'
      : 'PATTERN_FILE';
  return { pattern: pattern.replace(/(.)\/$/, '$1'), permission, type, priority };
}

export const hide = (pattern: string, priority = 0): PermissionRule => rule('PERMISSION_NONE', pattern, priority);
export const view = (pattern: string, priority = 0): PermissionRule => rule('PERMISSION_VIEW', pattern, priority);
export const read = (pattern: string, priority = 0): PermissionRule => rule('PERMISSION_READ', pattern, priority);
export const write = (pattern: string, priority = 0): PermissionRule => rule('PERMISSION_WRITE', pattern, priority);

export const EVERYTHING: readonly PermissionRule[] = [write('**')];

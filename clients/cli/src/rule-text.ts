import type { PermissionRule } from '../../typescript/src/contract/messages.ts';

export const levelText = (permission: string): string => permission.replace('PERMISSION_', '').toLowerCase();

/** The cells of a rule in a table. */
export const ruleRow = ({
  permission,
  pattern,
  type,
  priority,
  scratch,
  view,
  onWrite,
  contents,
}: PermissionRule): string[] => [
  contents
    ? `contents ${contents}`
    : scratch
      ? 'scratch'
      : view
        ? view + (onWrite === 'merge' ? ', merge' : '')
        : levelText(permission),
  pattern,
  type.replace('PATTERN_', '').toLowerCase(),
  String(priority),
];

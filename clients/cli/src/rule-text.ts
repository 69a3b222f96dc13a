import type { PermissionRule } from '../../typescript/src/contract/messages.ts';

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
        : permission,
  pattern,
  type,
  String(priority),
];

import type { PermissionRule } from 'paddock-sandbox';

/** The cells of a rule in a table. */
export function ruleRow(rule: PermissionRule): string[] {
  const { permission, pattern, type, priority, scratch, view, onWrite, contents } = rule;
  const level = view ? view + (onWrite === 'merge' ? ', merge' : '') : permission;
  const shown = contents ? `contents ${contents}` : scratch ? 'scratch' : level;
  return [shown, pattern, type, String(priority)];
}

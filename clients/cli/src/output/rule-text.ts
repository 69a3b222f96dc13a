import type { PermissionRule } from 'paddock-sandbox';
import { quotedName } from './printable.ts';

/** A rule in a sentence: `read docs/**`. */
export const ruleText = (rule: PermissionRule): string => ruleRow(rule).slice(0, 2).map(quotedName).join(' ');

/** The cells of a rule in a table. */
export function ruleRow(rule: PermissionRule): string[] {
  const { permission, pattern, type, priority, scratch, view, onWrite, contents } = rule;
  const level = view ? view + (onWrite === 'merge' ? ', merge' : '') : permission;
  const shown = contents ? `contents ${contents}` : scratch ? 'scratch' : level;
  return [shown, pattern, type, String(priority)];
}

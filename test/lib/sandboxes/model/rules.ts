import { fromLatin1 } from '../../../../lib/byte-string.ts';
import type { PermissionRule } from '../../../../lib/contract/messages.ts';
import { compileRules } from '../../../../lib/permissions/index.ts';
import { rule } from '../../workspaces/sandbox.ts';

/** The sets of rules that a sandbox of the model may come under. */
export const RULES: readonly (readonly PermissionRule[])[] = [
  [rule('**', 'WRITE')],
  [rule('**', 'WRITE'), rule('a/s', 'NONE')],
  [rule('**', 'WRITE'), rule('**/s', 'NONE', 1)],
  [rule('**', 'WRITE'), rule('a/d/**', 'NONE')],
  [rule('**', 'READ'), rule('b/**', 'WRITE'), rule('a/s', 'VIEW')],
  [rule('b/**', 'WRITE'), rule('a/d/s', 'READ')],
];

interface Level {
  /** Of lib/permissions. */
  level: number;
  /** Something below may be shown. */
  passThrough: boolean;
}

const compiled = RULES.map((rules) => compileRules(rules));
const known = RULES.map(() => new Map<string, Level>());

export function levelAt(rules: number, path: string): Level {
  const before = known[rules]!.get(path);
  if (before !== undefined) return before;
  const { level, visibleBelow } = compiled[rules]!.state(fromLatin1(path));
  const found = { level, passThrough: visibleBelow };
  known[rules]!.set(path, found);
  return found;
}

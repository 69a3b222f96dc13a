import { fromText } from '../byte-string.ts';
import type { PermissionRule } from '../contract/messages.ts';
import { type Pattern, parsePattern } from './parse-pattern.ts';

/** The directory in which git names files after branches, tags and submodules. */
export const GIT = fromText('.git');

/**
 * Parses the pattern of a rule. A `**` before another component of a scratch rule matches no `.git`: a branch `dist` is a
 * file `.git/refs/heads/dist`, which `**\/dist/**` must not leave out of a commit. Throws PatternError.
 */
export function parseRulePattern({
  type,
  pattern,
  scratch,
}: Pick<PermissionRule, 'type' | 'pattern' | 'scratch'>): Pattern {
  const parsed = parsePattern(type, pattern);
  if (!scratch) return parsed;
  const last = parsed.components.length - 1;
  const components = parsed.components.map((component, index) =>
    component === 'deep' && index < last ? 'deep outside .git' : component,
  );
  return { ...parsed, components };
}

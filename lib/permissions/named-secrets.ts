import type { PermissionRule } from '../contract/messages.ts';
import { covers } from './covers.ts';
import { patternOfRule } from './preset-patterns.ts';

/** Rules that are looked at; whoever has more names priorities. */
const MAX_RULES = 1000;

/**
 * What a caller's rules need beside them to decide over a preset, in steps: a rule whose pattern matches nothing but paths
 * that one rule of the preset protects, like `.env`, is about these. One that matches others, too, like `config/**`, is
 * not, and one that does not let them be written may be meant as a restriction.
 *
 * It decides over the rules that protect all its paths, and not over those that protect some of them: whoever writes to a
 * directory `secrets` names no `.env` in it.
 */
export function* findingNamed(
  own: readonly PermissionRule[],
  preset: readonly PermissionRule[],
): Generator<undefined, PermissionRule[], void> {
  const guards = preset
    .filter(({ contents }) => contents === 'redacted' || contents === 'kept')
    .map((rule) => ({ ...patternOfRule(rule), priority: rule.priority }));
  const found: PermissionRule[] = [];
  for (const rule of own.slice(0, MAX_RULES)) {
    yield;
    if (rule.contents || rule.view || rule.permission !== 'PERMISSION_WRITE') continue;
    let highest = Number.NEGATIVE_INFINITY;
    for (const named of namedBy(rule)) {
      const { components } = patternOfRule(named);
      const priorities = guards.flatMap((guard) => (covers(guard.components, components) ? guard.priority : []));
      const priority = Math.max(...priorities) + 1;
      if (priority <= highest) continue;
      highest = priority;
      found.push({ ...named, permission: 'PERMISSION_NONE', priority, contents: 'shown' });
    }
  }
  return found;
}

/** What is below a path, and otherwise the path itself: a rule for `.git` is about one name and all others below. */
function namedBy({ pattern, type }: PermissionRule): Pick<PermissionRule, 'pattern' | 'type'>[] {
  if (type !== 'PATTERN_DIRECTORY' || pattern === '/') return [{ pattern, type }];
  return [
    { pattern, type },
    { pattern: pattern.replace(/\/$/, ''), type: 'PATTERN_FILE' },
  ];
}

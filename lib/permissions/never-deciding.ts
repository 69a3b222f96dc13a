import type { PermissionRule } from '../contract/messages.ts';
import { kindOf } from './contents-rules.ts';
import { covers } from './covers.ts';
import { levelOfRule } from './levels.ts';
import { comparePrecedence } from './precedence.ts';
import { patternOfRule } from './preset-patterns.ts';

/** A rule that decides nowhere, and one that precedes it wherever it matches, by their indexes. */
export interface NeverDeciding {
  index: number;
  by: number;
}

/**
 * Finds rules from index `from` on that decide nowhere and differ from what decides instead. In steps; compares each of
 * them with all rules. Not all such rules are found; see `covers`.
 */
export function* findingNeverDeciding(
  rules: readonly PermissionRule[],
  from: number,
): Generator<undefined, NeverDeciding[], void> {
  const parsed = rules.map((rule, index) => ({ index, rule, ...patternOfRule(rule) }));
  const found: NeverDeciding[] = [];
  for (const rule of parsed.slice(from)) {
    const by = parsed.find(
      (other) =>
        kindOf(other.rule) === kindOf(rule.rule) &&
        comparePrecedence(other, rule) < 0 &&
        differs(other.rule, rule.rule) &&
        covers(other.components, rule.components),
    );
    if (by !== undefined) found.push({ index: rule.index, by: by.index });
    yield;
  }
  return found;
}

function differs(a: PermissionRule, b: PermissionRule): boolean {
  return (
    levelOfRule(a) !== levelOfRule(b) ||
    (a.scratch ?? false) !== (b.scratch ?? false) ||
    (a.redactor ?? '') !== (b.redactor ?? '') ||
    (a.contents ?? '') !== (b.contents ?? '')
  );
}

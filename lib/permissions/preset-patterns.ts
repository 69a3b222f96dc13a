import type { PermissionRule } from '../contract/messages.ts';
import type { Pattern } from './parse-pattern.ts';
import { parseRulePattern } from './parse-rule-pattern.ts';
import { PRESETS } from './presets.ts';

type Rule = Pick<PermissionRule, 'type' | 'pattern' | 'scratch'>;

const keyOf = ({ type, pattern, scratch }: Rule): string => `${type}${scratch === true} ${pattern}`;

/** Most sandboxes have the rules of a preset, whose patterns are parsed once. */
const PARSED: ReadonlyMap<string, Pattern> = new Map(
  PRESETS.flatMap(({ permissions }) => permissions).map((rule) => [keyOf(rule), parseRulePattern(rule)]),
);

/** As `parseRulePattern`, which takes longer. */
export function patternOfRule(rule: Rule): Pattern {
  return PARSED.get(keyOf(rule)) ?? parseRulePattern(rule);
}

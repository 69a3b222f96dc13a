import type { ByteString } from '../byte-string.ts';
import type { Permission } from '../contract/messages.ts';
import { wordOf } from '../errors.ts';
import { type Level, NONE, permissionOf, REDACTED } from './levels.ts';
import type { PlacedRule, RuleSet } from './rule-set.ts';

export interface Explanation {
  permission: Permission;
  level: Level;
  /** undefined: no rule matches, so the permission is PERMISSION_NONE. */
  winner: PlacedRule | undefined;
  /** The other matching rules, in order of precedence. */
  beaten: PlacedRule[];
  /** The path itself is NONE, but a path below it can be visible: a directory here is listed and can be traversed. */
  passThrough: boolean;
  /** One or two sentences for people. */
  reason: string;
}

/** Explains the permission of `path`. The path need not exist: only the rules are evaluated. */
export function explain(ruleSet: RuleSet, path: ByteString): Explanation {
  const { level, visibleBelow } = ruleSet.state(path);
  const [winner, ...beaten] = ruleSet.matching(path);
  const passThrough = level === NONE && visibleBelow;
  return {
    permission: permissionOf(level),
    level,
    winner,
    beaten,
    passThrough,
    reason: `${whyWins(ruleSet, winner, beaten)}${whatIsShown(ruleSet.contentsRules(path), level)}${
      passThrough ? ' A directory here can still be passed through, because something below it can be visible.' : ''
    }`,
  };
}

const SHOWS: Readonly<Record<string, string>> = {
  shown: 'shows contents as they are',
  kept: 'keeps contents from being changed',
};

function whatIsShown(placed: readonly PlacedRule[], level: Level): string {
  if (level < REDACTED) return '';
  const sentences = placed.map(({ index, rule }) => {
    const what = SHOWS[rule.contents ?? ''] ?? 'puts placeholders in place of secrets';
    return ` permissions[${index}] (${wordOf(rule.type)} ${JSON.stringify(rule.pattern)}) ${what}.`;
  });
  return sentences.join('');
}

function whyWins(ruleSet: RuleSet, winner: PlacedRule | undefined, beaten: readonly PlacedRule[]): string {
  if (winner === undefined) return 'No rule matches, so the permission is none.';
  const decides = `${describe(winner)} decides`;
  const next = beaten[0];
  if (next === undefined) return `${decides}: no other rule matches.`;
  const more = beaten.length === 1 ? '' : ` (and ${beaten.length - 1} more)`;
  return `${decides}: it ${ruleSet.whyBefore(winner, next)}. Next is ${describe(next)}${more}.`;
}

function describe({ index, rule }: PlacedRule): string {
  const { type, pattern, permission, priority, scratch, view } = rule;
  const traits = [wordOf(permission), `priority ${priority}`, scratch && 'scratch', view].filter(Boolean).join(', ');
  return `permissions[${index}] (${wordOf(type)} ${JSON.stringify(pattern)}, ${traits})`;
}

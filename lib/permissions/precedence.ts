import { levelOfRule } from './levels.ts';
import type { PlacedRule } from './rule-set.ts';

/** A rule with the attributes that determine its precedence. */
export interface RankedRule extends PlacedRule {
  /** Whether the pattern matches exactly one path. */
  exact: boolean;
  /** Bytes of the pattern before the first special character. */
  literalPrefix: number;
}

interface Criterion {
  /** Negative: `a` precedes `b`. */
  compare(a: RankedRule, b: RankedRule): number;
  /** The winner's advantage over the other rule. */
  why: string;
}

const TYPE_ORDER = { PATTERN_FILE: 0, PATTERN_DIRECTORY: 1, PATTERN_GLOB: 2 } as const;

/**
 * In order of application. A total order on rules, equal for every path: the first matching rule in this order wins.
 */
const CRITERIA: readonly Criterion[] = [
  { compare: (a, b) => b.rule.priority - a.rule.priority, why: 'has the higher priority' },
  {
    compare: (a, b) => TYPE_ORDER[a.rule.type] - TYPE_ORDER[b.rule.type],
    why: 'has the stronger type (FILE over DIRECTORY over GLOB)',
  },
  { compare: (a, b) => Number(b.exact) - Number(a.exact), why: 'names one exact path' },
  { compare: (a, b) => b.literalPrefix - a.literalPrefix, why: 'has the longer literal prefix' },
  { compare: (a, b) => levelOfRule(a.rule) - levelOfRule(b.rule), why: 'is the more restrictive' },
  { compare: (a, b) => Number(isScratch(b)) - Number(isScratch(a)), why: 'is scratch' },
  { compare: (a, b) => a.index - b.index, why: 'says the same and comes first' },
];

const isScratch = ({ rule }: RankedRule): boolean => rule.scratch === true;

export function comparePrecedence(a: RankedRule, b: RankedRule): number {
  return decidingCriterion(a, b)?.compare(a, b) ?? 0;
}

/** The reason why `winner` precedes `beaten`, to follow the winner's name in a sentence. */
export function whyBefore(winner: RankedRule, beaten: RankedRule): string {
  return decidingCriterion(winner, beaten)?.why ?? 'is the same rule';
}

function decidingCriterion(a: RankedRule, b: RankedRule): Criterion | undefined {
  return CRITERIA.find((criterion) => criterion.compare(a, b) !== 0);
}

import { covers } from './covers.ts';
import type { ParsedRule } from './rule-trie.ts';

/** Pairs of rules that are compared: without a comparison, a path stays kept. */
const MAX_PAIRS = 20_000;
const PAIRS_PER_STEP = 32;

/**
 * The rules with contents "shown" that decide over rules with contents "kept", in steps: those whose pattern matches only
 * paths that one rule keeps. A rule for all files, or for a directory above, is not about these.
 */
export function* findingLifting(
  keeping: readonly ParsedRule[],
  contents: readonly ParsedRule[],
): Generator<undefined, ParsedRule[], void> {
  const found: ParsedRule[] = [];
  let pairs = 0;
  for (const rule of contents) {
    if (rule.rule.contents !== 'shown') continue;
    for (const kept of keeping) {
      if (++pairs > MAX_PAIRS) return found;
      if (pairs % PAIRS_PER_STEP === 0) yield;
      if (!covers(kept.components, rule.components)) continue;
      found.push(rule);
      break;
    }
  }
  return found;
}

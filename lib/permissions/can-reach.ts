import type { Level } from './levels.ts';

/** A state as a search sees it. Both `may` questions can be answered yes wrongly, never no. */
export interface Explorable {
  readonly level: Level;
  /** Some path strictly below has at least `level`. */
  mayReach(level: Level): boolean;
  /** Some path strictly below does, whose first name is matched by a pattern such as `a*` or `[ab]`. */
  mayReachByPattern(level: Level): boolean;
  /** Tokens of the patterns that a step from here may have to try. */
  readonly patternTokens: number;
  /** Where the plain names in the patterns lead, and any name that no pattern but `*` mentions. */
  namedChildren(): Iterable<Explorable>;
}

/** What one search may cost, in tokens tried: rules made to be slow must not hold up a file system many share. */
const MAX_COST = 200_000;
const STEP_COST = 100;

/**
 * Whether a path strictly below `start` can have at least `level`: exactly for rules of plain names, `*` and `**`, unless
 * there are very many; otherwise yes in doubt.
 *
 * Why other patterns need no names tried: a rule that wins below a name they match was either reached through such a
 * pattern, which `mayReachByPattern` tells, or it wins as well below a name that nothing mentions, where fewer rules match.
 */
export function canReach(start: Explorable, level: Level): boolean {
  const found = new Set([start]);
  let cost = 0;
  for (const state of found) {
    if (!state.mayReach(level)) continue;
    if (state.mayReachByPattern(level)) return true;
    for (const child of state.namedChildren()) {
      cost += STEP_COST + state.patternTokens;
      if (child.level >= level || cost > MAX_COST) return true;
      found.add(child);
    }
  }
  return false;
}

import type { Level } from './levels.ts';

/** A state of the search. Both `may` methods can return false positives, but never false negatives. */
export interface Explorable {
  readonly level: Level;
  /** Whether some path strictly below has at least `level`. */
  mayReach(level: Level): boolean;
  /** Like `mayReach`, for paths whose first name is matched by a pattern such as `a*` or `[ab]`. */
  mayReachByPattern(level: Level): boolean;
  /** Number of pattern tokens that a step from here may have to try. */
  readonly patternTokens: number;
  /** The children for the plain names in the patterns, and for a name that only `*` matches. */
  namedChildren(): Iterable<Explorable>;
}

/** Maximum cost of a search, in tokens tried: rules designed to be slow must not block a shared file system. */
const MAX_COST = 200_000;
const STEP_COST = 100;

/**
 * Whether a path strictly below `start` can have at least `level`. Exact for rules of plain names, `*` and `**`, unless
 * there are very many; otherwise true if in doubt.
 *
 * Other patterns need no candidate names: a rule that wins below a name they match was either reached through such a
 * pattern, which `mayReachByPattern` reports, or also wins below a name that no pattern mentions, where fewer rules
 * match.
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

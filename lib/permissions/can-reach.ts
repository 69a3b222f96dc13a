import type { Level } from './levels.ts';

/** A state as a search sees it. Both `may` questions can be answered yes wrongly, never no. */
export interface Explorable {
  readonly level: Level;
  /** Some path strictly below has at least `level`. */
  mayReach(level: Level): boolean;
  /** Some path strictly below does, whose first name is matched by a pattern such as `a*` or `[ab]`. */
  mayReachByPattern(level: Level): boolean;
  /** Where the plain names in the patterns lead, and any name that no pattern but `*` mentions. */
  namedChildren(): Iterable<Explorable>;
}

/** Steps of one search: bounds what rules made for it can cost. */
const MAX_STEPS = 1000;

/**
 * Whether a path strictly below `start` can have at least `level`: exactly for rules of plain names, `*` and `**`, unless
 * there are very many; otherwise yes in doubt.
 *
 * Why other patterns need no names tried: a rule that wins below a name they match was either reached through such a
 * pattern, which `mayReachByPattern` tells, or it wins as well below a name that nothing mentions, where fewer rules match.
 */
export function canReach(start: Explorable, level: Level): boolean {
  const found = new Set([start]);
  let steps = 0;
  for (const state of found) {
    if (!state.mayReach(level)) continue;
    if (state.mayReachByPattern(level)) return true;
    for (const child of state.namedChildren()) {
      if (child.level >= level || ++steps > MAX_STEPS) return true;
      found.add(child);
    }
  }
  return false;
}

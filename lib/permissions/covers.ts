import { ComponentMatcher, unitsOf } from './match-component.ts';
import { isAnyName } from './parse-pattern.ts';
import { GIT } from './parse-rule-pattern.ts';
import type { Alternative, Component, Token } from './tokens.ts';

/** Pairs of components that are compared at most: bounds the time to some tens of microseconds. */
const MAX_PAIRS = 1024;

/**
 * Whether a pattern matches every path that another one matches. False if in doubt: for patterns that only together, or
 * only by their characters (`a*` and `ab*`), match as much, and for long ones.
 */
export function covers(wide: readonly Component[], narrow: readonly Component[]): boolean {
  if (wide.length * narrow.length > MAX_PAIRS) return false;
  // below[j]: whether the components of `wide` from the present one on match all that those of `narrow` from j on match.
  let below = narrow.map(() => false).concat(true);
  for (const component of wide.toReversed()) {
    const row = below.map(() => false);
    for (let j = narrow.length; j >= 0; j--) {
      const other = narrow[j];
      if (component === 'deep') row[j] = below[j]! || (other !== undefined && row[j + 1]!);
      else if (component === 'deep outside .git') row[j] = below[j]! || (isOutsideGit(other) && row[j + 1]!);
      else row[j] = typeof other === 'object' && below[j + 1]! && componentCovers(component, other);
    }
    below = row;
  }
  return below[0]!;
}

function componentCovers(wide: readonly Alternative[], narrow: readonly Alternative[]): boolean {
  if (wide.some(isAnyName)) return true;
  return narrow.every((each) => wide.some((alternative) => alternativeCovers(alternative, each)));
}

function isOutsideGit(component: Component | undefined): boolean {
  if (typeof component !== 'object') return component === 'deep outside .git';
  return !component.some((alternative) => alternativeCovers(alternative, { literal: GIT }));
}

function alternativeCovers(wide: Alternative, narrow: Alternative): boolean {
  if (wide.literal !== undefined) return wide.literal === narrow.literal;
  if (narrow.literal !== undefined) return new ComponentMatcher(wide.tokens).matches(unitsOf(narrow.literal));
  return keyOf(wide.tokens) === keyOf(narrow.tokens);
}

function keyOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => (typeof token === 'number' ? token : `${token.negated}${token.ranges.join('-')}`))
    .join();
}

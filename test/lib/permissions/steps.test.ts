import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import type { PermissionRule } from '../../../lib/contract/messages.ts';
import { compileRules, compiling } from '../../../lib/permissions/index.ts';
import { comparePrecedence, type RankedRule } from '../../../lib/permissions/precedence.ts';
import { sortRules } from '../../../lib/permissions/sort-rules.ts';
import { directory, file, glob } from './rules.ts';

/** Runs the steps; returns the result and the number of steps. */
function counted<T>(steps: Generator<undefined, T, void>): { result: T; steps: number } {
  for (let count = 1; ; count++) {
    const { done, value } = steps.next();
    if (done) return { result: value, steps: count };
  }
}

it('rules are sorted in steps into their order of precedence', () => {
  const rule = fc.record({
    pattern: fc.constantFrom('a', 'a/*', 'a/b', '**'),
    permission: fc.constantFrom('PERMISSION_NONE' as const, 'PERMISSION_WRITE' as const),
    type: fc.constantFrom('PATTERN_GLOB' as const, 'PATTERN_FILE' as const),
    priority: fc.integer({ min: 0, max: 2 }),
  });
  fc.assert(
    fc.property(fc.array(rule, { size: 'large', maxLength: 1200 }), (rules) => {
      const ranked = rules.map((each, index): RankedRule => {
        return { index, rule: each, exact: each.pattern === 'a', literalPrefix: each.pattern.length % 3 };
      });
      expect(counted(sortRules(ranked)).result).toEqual(ranked.toSorted(comparePrecedence));
    }),
    { numRuns: 10 },
  );
});

it('the number of steps grows with the number of rules, so that each step stays short', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => glob(`d${index}/*.x`, 'READ'));
  const [few, more] = [counted(compiling(many(1000))), counted(compiling(many(4000)))];
  expect(few.steps).toBeGreaterThan(3 * (1000 / 64));
  expect(more.steps).toBeGreaterThan(4 * few.steps - 4);
  expect(more.result.decide(fromText('d3999/a.x'))).toBe(4);
});

it('rules with many alternatives have a step each', () => {
  const large = Array.from({ length: 20 }, (_, index) => glob(`${'{a,b}'.repeat(8)}${'?'.repeat(20)}${index}`, 'READ'));
  expect(counted(compiling(large)).steps).toBeGreaterThan(20);
});

it('more rules are compiled than a request may have, since earlier servers stored them', () => {
  const stored: PermissionRule[] = Array.from({ length: 10_001 }, (_, index) => file(`f${index}`, 'READ'));
  stored.push(directory('d', 'WRITE'));
  expect(compileRules(stored).decide(fromText('f10000'))).toBe(4);
});

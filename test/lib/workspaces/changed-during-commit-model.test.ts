import fc from 'fast-check';
import { describe, it } from 'vitest';
import { check, DOES, MOST_COMMITS, Twins } from './commit-twins.ts';

/**
 * Others and more in a search for faults: COMMIT_ROUNDS=4000 COMMIT_SEED=$RANDOM npx vitest run
 * test/lib/workspaces/changed-during-commit-model.test.ts
 */
const ROUNDS = Number(process.env.COMMIT_ROUNDS ?? 40);
const SEED = Number(process.env.COMMIT_SEED ?? 20_261_127);

const CODEBASES = [
  {
    name: 'two directories',
    base: ['p/a', 'p/b', 'q/d/e', 'q/d/g'],
    names: ['p', 'p/a', 'p/d', 'p/d/e', 'x', 'q', 'q/d', 'q/d/e', 'q/n'],
  },
  { name: 'renamed trees', base: ['p/d/a'], names: ['p', 'q', 'r', 'p/d', 'q/d', 'r/d', 'p/d/n', 'q/d/n', 'r/d/n'] },
  {
    name: 'new directories in renamed trees',
    base: ['p/d/a'],
    names: ['p', 'q', 'x', 'y', 'p/d', 'q/d', 'p/d/f', 'q/d/f', 'x/f', 'q/d/f/g', 'x/f/g', 'x/d/f/g'],
  },
  { name: 'few names', base: ['p/c', 'p/z'], names: ['p', 'p/c', 'p/d'] },
];

describe('what programs do during a commit', () => {
  it.each(CODEBASES)('is neither lost nor in conflict with it: $name', { timeout: 600_000 }, ({ base, names }) => {
    const step = fc.record({
      path: fc.constantFrom(...names),
      does: fc.constantFrom(...DOES),
      to: fc.constantFrom(...names),
    });
    const work = fc.array(fc.array(step, { maxLength: 5 }), { maxLength: 6 * MOST_COMMITS, size: 'max' });
    fc.assert(
      fc.property(work, fc.array(fc.boolean()), (segments, crashes) => {
        const twins = new Twins(base, segments);
        try {
          check(twins, crashes);
        } finally {
          twins.remove();
        }
      }),
      { numRuns: ROUNDS, seed: SEED },
    );
  });
});

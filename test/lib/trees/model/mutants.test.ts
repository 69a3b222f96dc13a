import { describe, expect, it } from 'vitest';
import { EQUIVALENT, MUTANTS } from './mutants.ts';
import { find } from './mutate.ts';

/** Half of the faults are found by the first sequence, the slowest one by the 480th. PADDOCK_MUTANTS=1 tells the counts. */
const SEQUENCES = 600;

describe('the model of lib/trees', () => {
  it.each(MUTANTS)('finds that $fault', async (mutant) => {
    const found = await find(mutant, SEQUENCES);
    expect(found, mutant.fault).toBeDefined();
    if (process.env.PADDOCK_MUTANTS)
      process.stdout.write(`${found!.count}\t${mutant.fault}: ${found!.told.slice(0, 90)}\n`);
  });

  it.each(EQUIVALENT)('finds nothing where a fault has no effect: $fault', async (mutant) => {
    expect(await find(mutant, 50)).toBeUndefined();
  });
});

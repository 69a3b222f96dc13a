import { describe, expect, it } from 'vitest';
import { find } from '../../../trees/model/mutate.ts';
import { MUTANTS } from './mutants.ts';

/** Most faults are found by the first three. */
const SEQUENCES = 300;
const MODELLED = { room: 'lib/workspaces/tree', model: 'test/lib/workspaces/tree/model/play.ts', steps: 200 };

describe('the model of the live tree', () => {
  it.each(MUTANTS)('finds that $fault', async (mutant) => {
    const found = await find(mutant, SEQUENCES, MODELLED);
    expect(found, mutant.fault).toBeDefined();
    if (process.env.PADDOCK_MUTANTS)
      process.stdout.write(`${found!.count}\t${mutant.fault}: ${found!.told.slice(0, 90)}\n`);
  });
});

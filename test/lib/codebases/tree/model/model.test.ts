import { describe, expect, it } from 'vitest';
import { seeded } from '../../../trees/random.ts';
import { play } from './play.ts';

const SEQUENCES = Math.ceil(Number(process.env.PADDOCK_MODEL_RUNS ?? 90) / 3);
const FIRST_SEED = Number(process.env.PADDOCK_MODEL_SEED ?? 1);

describe('a codebase on trees', () => {
  it.each([false, true])(
    'has what was answered, as a flat map would, also after servers that ended (calls of the disk fail: %s)',
    async (faults) => {
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEQUENCES; seed++) {
        await play(seeded(seed), faults).catch((error) => {
          throw new Error(`PADDOCK_MODEL_SEED=${seed}: ${error.message ?? error}`, { cause: error });
        });
      }
      expect.hasAssertions();
    },
  );
});

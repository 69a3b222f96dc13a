import { describe, it } from 'vitest';
import { play } from './play.ts';

const SEQUENCES = Number(process.env.PADDOCK_MODEL_RUNS ?? 15);
const FIRST_SEED = Number(process.env.PADDOCK_MODEL_SEED ?? 1);
const STEPS = 60;

describe('sandboxes on a codebase, on a disk', () => {
  it('keep their changes, follow head, commit only what they saw, and survive the end of the server', async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEQUENCES; seed++) {
      const lines: string[] = [];
      try {
        await play(seed, STEPS, (line) => lines.push(line));
      } catch (error) {
        const told = `PADDOCK_MODEL_SEED=${seed}: ${(error as Error).message ?? error}\n${lines.slice(-25).join('\n')}`;
        throw new Error(told, { cause: error });
      }
    }
  });
});

import { describe, expect, it } from 'vitest';
import { play } from './play.ts';

/** Two sequences for each of the other model of trees: 2,400 in test:model. */
const RUNS = Math.ceil(Number(process.env.PADDOCK_MODEL_RUNS ?? 60) / 2);
const SEED = Number(process.env.PADDOCK_MODEL_SEED ?? 1);
const STEPS = 200;

describe('random sequences over the live tree of a workspace', () => {
  it('mean what they mean for a map of paths, live, frozen and replayed', () => {
    const broken: string[] = [];
    for (let seed = SEED; seed < SEED + RUNS && broken.length < 3; seed++) {
      const lines: string[] = [];
      try {
        play(seed, STEPS, (line) => lines.push(line));
      } catch (error) {
        broken.push(`seed ${seed}: ${(error as Error).stack}\n${lines.slice(-12).join('\n')}`);
      }
    }
    expect(broken.join('\n\n')).toBe('');
  });
});

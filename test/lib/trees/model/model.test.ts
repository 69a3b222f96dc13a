import { describe, expect, it } from 'vitest';
import { play } from './play.ts';

const RUNS = Math.ceil(Number(process.env.PADDOCK_MODEL_RUNS ?? 80) / 2);
const SEED = Number(process.env.PADDOCK_MODEL_SEED ?? 1);
const STEPS = 60;

describe('random sequences over three sandboxes and their codebase', () => {
  it('hold the invariants I1 to I15 against flat maps', () => {
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

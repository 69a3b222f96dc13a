import fc from 'fast-check';
import { describe, it, vi } from 'vitest';
import { gatedPromises, withoutSync } from './disk.ts';
import { play, shownSequence, worldOptions } from './play.ts';
import { REGRESSIONS } from './regressions.ts';
import { shrunk } from './shrink.ts';
import { sequences } from './steps.ts';

vi.mock('node:fs/promises', async (original) => gatedPromises(await original()));
vi.mock('node:child_process', async (original) => withoutSync(await original()));

const STEPS = 40;
/** Given: so many random sequences, each time others. Else always the same, so that a failure is one of the change at hand. */
const RUNS = process.env.PADDOCK_MODEL_RUNS;
const DEFAULT_RUNS = 60;
const DEFAULT_SEED = 20_261_122;

describe('a sequence over sandboxes of one codebase', () => {
  it.each(REGRESSIONS)('$name', ({ options, sequence }) => play(options, sequence));
});

describe('any sequence over sandboxes of one codebase', () => {
  it('shows nothing hidden, nothing of the host, and loses nothing', { timeout: 24 * 3_600_000 }, async () => {
    let made = 0;
    const property = fc.asyncProperty(worldOptions, sequences(STEPS), async (options, sequence) => {
      made += sequence.length;
      await play(options, sequence);
    });
    const seed = Number(process.env.PADDOCK_MODEL_SEED ?? (RUNS ? Date.now() | 0 : DEFAULT_SEED));
    const details = await fc.check(property, { numRuns: Number(RUNS || DEFAULT_RUNS), seed, endOnFailure: true });
    process.stderr.write(`${made} steps, seed ${seed}\n`);
    if (!details.failed) return;
    const [options, sequence] = details.counterexample!;
    const { error, ...least } = await shrunk({ options, sequence, error: details.errorInstance });
    throw new Error(`seed ${seed}: ${error}\n${shownSequence(least.options, least.sequence)}`);
  });
});

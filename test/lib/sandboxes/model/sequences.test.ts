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

/** Milliseconds for one sequence, of which most take some tenths of a second. */
const MAX_PLAY_MS = 120_000;

class NotEnded extends Error {}

/** Like `play`, but rejects when the sequence does not end: it waits for something that never happens. */
async function playToEnd(...[options, sequence]: Parameters<typeof play>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NotEnded('the sequence does not end')), MAX_PLAY_MS);
  });
  await Promise.race([play(options, sequence), late]).finally(() => clearTimeout(timer));
}

describe('a sequence over sandboxes of one codebase', () => {
  it.each(REGRESSIONS)('$name', ({ options, sequence }) => playToEnd(options, sequence));
});

describe('any sequence over sandboxes of one codebase', () => {
  it('shows nothing hidden, nothing of the host, and loses nothing', { timeout: 24 * 3_600_000 }, async () => {
    let made = 0;
    const property = fc.asyncProperty(worldOptions, sequences(STEPS), async (options, sequence) => {
      made += sequence.length;
      await playToEnd(options, sequence);
    });
    const seed = Number(process.env.PADDOCK_MODEL_SEED ?? (RUNS ? Date.now() | 0 : DEFAULT_SEED));
    const details = await fc.check(property, { numRuns: Number(RUNS || DEFAULT_RUNS), seed, endOnFailure: true });
    process.stderr.write(`${made} steps, seed ${seed}\n`);
    if (!details.failed) return;
    const [options, sequence] = details.counterexample!;
    const failure = { options, sequence, error: details.errorInstance };
    // Each attempt to shorten it would take the whole time.
    const { error, ...least } = failure.error instanceof NotEnded ? failure : await shrunk(failure);
    throw new Error(`seed ${seed}: ${error}\n${shownSequence(least.options, least.sequence)}`);
  });
});

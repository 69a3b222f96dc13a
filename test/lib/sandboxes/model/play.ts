import fc from 'fast-check';
import type { AutoCommit } from '../../../../lib/field-values.ts';
import { RULES } from './rules.ts';
import { PLACES, type Step } from './steps.ts';
import { World, type WorldOptions } from './world.ts';

/** What a sequence is played on: the rules of each sandbox that is there first, and when each place commits. */
export const worldOptions = fc.record({
  rules: fc.array(fc.nat(RULES.length - 1), { minLength: 2, maxLength: 2 }),
  autoCommit: fc.array(fc.constantFrom<AutoCommit>('never', 'never', 'on_exec', 'on_stop'), {
    minLength: PLACES,
    maxLength: PLACES,
  }),
});

/** Throws a Violation of what must hold after each step. */
export async function play(options: WorldOptions, sequence: readonly Step[]): Promise<void> {
  const world = await World.make(options);
  try {
    for (const step of sequence) await world.step(step);
    await world.finish();
  } finally {
    await world.end();
  }
}

/** As it is written in a test. */
export function shownSequence(options: WorldOptions, sequence: readonly Step[]): string {
  return `${JSON.stringify(options)}\n${sequence.map((step) => JSON.stringify(step)).join(',\n')}`;
}

import { expect, it } from 'vitest';
import { TurnTime } from '../../lib/turn-time.ts';

/** Turns that pass when the test calls `pass`, and a clock that steps move. */
function host() {
  const waiting: (() => void)[] = [];
  const clock = { ms: 0 };
  const turns = { next: () => new Promise<void>((resolve) => waiting.push(resolve)) };
  const pass = async () => {
    waiting.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { time: new TurnTime(4, turns, () => clock.ms), clock, pass };
}

it('runs steps at once until the time of a turn is used, and the others in later turns, in order', async () => {
  const { time, clock, pass } = host();
  const ran: number[] = [];
  const step = (number: number) => {
    void time.run(() => {
      clock.ms += 1.5;
      ran.push(number);
    });
  };
  for (let number = 0; number < 6; number++) step(number);
  expect(ran).toEqual([0, 1, 2]);
  // The first turn that passes ends the time of the steps that ran.
  await pass();
  expect(ran).toEqual([0, 1, 2]);
  step(6);
  expect(ran).toEqual([0, 1, 2]);
  await pass();
  expect(ran).toEqual([0, 1, 2, 3]);
  for (let passed = 0; passed < 10; passed++) await pass();
  expect(ran).toEqual([0, 1, 2, 3, 4, 5, 6]);
  step(7);
  expect(ran.at(-1)).toBe(7);
});

it('continues after a step that throws', async () => {
  const { time, clock, pass } = host();
  const failing = () => {
    clock.ms += 5;
    throw new Error('EIO');
  };
  expect(() => time.run(failing)).toThrow('EIO');
  const next = time.run(() => 'next');
  for (let passed = 0; passed < 2; passed++) await pass();
  await expect(next).resolves.toBe('next');
});

import { expect, it } from 'vitest';
import { Breaks } from '../../lib/breaks.ts';
import { Turns } from '../../lib/turns.ts';

const MS = 4;

/** Breaks whose clock moves by the steps of loops only, and the milliseconds of these in each turn. */
function measured() {
  const clock = { ms: 0 };
  const breaks = new Breaks(new Turns(), () => clock.ms);
  const perTurn: number[] = [];
  let isOver = false;
  let before = 0;
  const look = () => {
    if (clock.ms > before) perTurn.push(clock.ms - before);
    before = clock.ms;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const loop = async (steps: number, ran: () => void = () => undefined) => {
    for (let step = 0; step < steps; step++) {
      const due = breaks.due();
      if (due !== undefined) await due;
      clock.ms += 1;
      ran();
    }
  };
  const end = async () => {
    isOver = true;
    await new Promise((resolve) => setImmediate(resolve));
    return perTurn;
  };
  return { loop, end };
}

it('lets other events be handled each time that a loop has run for 4 ms', async () => {
  const { loop, end } = measured();
  await loop(20);
  expect(await end()).toEqual([MS, MS, MS, MS, MS]);
});

it('gives loops that follow each other at once the time of one turn together', async () => {
  const { loop, end } = measured();
  for (let n = 0; n < 10; n++) await loop(3);
  expect(Math.max(...(await end()))).toBe(MS);
});

it('gives concurrent loops the time of one turn together, one after the other', async () => {
  const { loop, end } = measured();
  const ran: string[] = [];
  await Promise.all(['a', 'b', 'c'].map((name) => loop(2 * MS, () => ran.push(name))));
  expect(Math.max(...(await end()))).toBe(MS);
  // The first one has begun when the others come.
  expect(ran.join('')).toBe(['a', 'a', 'b', 'c', 'b', 'c'].map((name) => name.repeat(MS)).join(''));
});

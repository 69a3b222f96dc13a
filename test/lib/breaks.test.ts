import { expect, it } from 'vitest';
import { Breaks } from '../../lib/breaks.ts';

it('is due each time that the loop has run for 4 ms, and lets other events be handled', async () => {
  let now = 0;
  const breaks = new Breaks(() => now);
  let handled = 0;
  const due: number[] = [];
  for (let step = 0; step < 20; step++) {
    now += 1;
    const pause = breaks.due();
    if (pause === undefined) continue;
    setImmediate(() => handled++);
    await pause;
    due.push(step);
  }
  expect(due).toEqual([3, 7, 11, 15, 19]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(handled).toBe(5);
});

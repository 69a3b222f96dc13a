import { expect, it } from 'vitest';
import { each, limiter } from '../../../lib/sandboxes/limiter.ts';

it('runs tasks in order of arrival, at most as many at a time as it may', async () => {
  const limited = limiter(3);
  const begun: number[] = [];
  let [running, most] = [0, 0];
  const task = (n: number) => async () => {
    begun.push(n);
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    if (n % 7 === 0) throw new Error(String(n));
  };
  for (let round = 0; round < 2; round++) {
    begun.length = 0;
    const all = await Promise.allSettled(Array.from({ length: 100 }, (_, n) => limited(task(n))));
    expect([begun, most]).toEqual([Array.from({ length: 100 }, (_, n) => n), 3]);
    expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(15);
  }
});

it('takes each item once', async () => {
  const taken: number[] = [];
  await each([1, 2, 3, 4, 5], 2, async (item) => {
    await Promise.resolve();
    taken.push(item);
  });
  expect(taken).toEqual([1, 2, 3, 4, 5]);
});

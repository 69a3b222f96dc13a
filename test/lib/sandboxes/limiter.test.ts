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

it('keeps the order and the results of tasks of which some always wait', async () => {
  const limited = limiter(2);
  const begun: number[] = [];
  const worker = async (from: number) => {
    for (let n = from; n < 5000; n += 5) {
      const result = await limited(async () => {
        begun.push(n);
        return n;
      });
      expect(result).toBe(n);
    }
  };
  await Promise.all([0, 1, 2, 3, 4].map(worker));
  expect(begun).toEqual(Array.from({ length: 5000 }, (_, n) => n));
});

it('takes each item once', async () => {
  const taken: number[] = [];
  await each([1, 2, 3, 4, 5], 2, async (item) => {
    await Promise.resolve();
    taken.push(item);
  });
  expect(taken).toEqual([1, 2, 3, 4, 5]);
});

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Refreshes } from '../../../../lib/runtime/shown/refreshes.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Sandboxes whose refresh takes half a millisecond. */
function sandboxes(count: number) {
  let spent = 0;
  const refreshes = new Refreshes(() => performance.now() + spent);
  const counts = Array.from({ length: count }, () => 0);
  const all = counts.map((_, at) => () => {
    spent += 0.5;
    counts[at]!++;
  });
  const ask = () => {
    for (const each of all) refreshes.ask(each);
  };
  return { ask, counts };
}

it('a turn ends after two milliseconds, and the others have theirs later', () => {
  const { ask, counts } = sandboxes(10);
  ask();
  expect(counts).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  vi.advanceTimersByTime(1);
  expect(counts).toEqual([1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
  vi.advanceTimersByTime(100);
  expect(counts).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 0, 0]);
});

it('of sandboxes that ask all the time each has as many refreshes as the others', () => {
  const { ask, counts } = sandboxes(100);
  for (let n = 0; n < 1000; n++) {
    ask();
    vi.advanceTimersByTime(10);
  }
  expect(Math.min(...counts)).toBeGreaterThan(1);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
});

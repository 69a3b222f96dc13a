import { expect, it, vi } from 'vitest';
import { pauseAfter, WatchPauses } from '../../../lib/sandboxes/network/network-watch.ts';

const begun = vi.hoisted(() => [] as number[]);

/** Pauses that do not end. */
vi.mock('node:timers/promises', () => ({
  setTimeout: (milliseconds: number) => {
    begun.push(milliseconds);
    return new Promise(() => undefined);
  },
}));

it('all watches of the server together read a limited number of events', () => {
  for (const watches of [1, 16, 1600]) {
    const milliseconds = pauseAfter(250, watches);
    expect((watches * 250) / milliseconds).toBeLessThanOrEqual(2);
  }
  // One that reads little is told soon.
  expect(pauseAfter(1, 100)).toBe(50);
});

it('watches of another server in the same process do not make the pauses longer', () => {
  const { signal } = new AbortController();
  const [one, other] = [new WatchPauses(), new WatchPauses()];
  for (const pauses of [one, one, one, other]) void pauses.pause(250, signal);
  expect(begun).toEqual([1, 2, 3, 1].map((watches) => pauseAfter(250, watches)));
});

import { expect, it } from 'vitest';
import { pauseAfter } from '../../../lib/sandboxes/network/network-watch.ts';

it('all watches of the server together read a limited number of events', () => {
  for (const watches of [1, 16, 1600]) {
    const milliseconds = pauseAfter(250, watches);
    expect((watches * 250) / milliseconds).toBeLessThanOrEqual(2);
  }
  // One that reads little is told soon.
  expect(pauseAfter(1, 100)).toBe(50);
});

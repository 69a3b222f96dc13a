import { expect, it } from 'vitest';
import { DeathRecord } from '../../../lib/sandboxes/host/death-record.ts';

it('delays each further mount for longer, up to a maximum, until the failures are long ago', () => {
  let now = 0;
  const deaths = new DeathRecord(() => now);
  const waits = Array.from({ length: 8 }, () => deaths.add({ reason: 'the notifier failed' }));
  expect(waits).toEqual([0, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
  now = 600_000;
  expect(deaths.add({ reason: 'the notifier failed' })).toBe(0);
});

it('refuses a workspace for failures during its own requests only', () => {
  const deaths = new DeathRecord(() => 0);
  deaths.add({ reason: 'failed', workspace: 'a' });
  deaths.add({ reason: 'failed', workspace: 'b' });
  deaths.add({ reason: 'failed' });
  expect([deaths.refusal('a'), deaths.refusal('b')]).toEqual([undefined, undefined]);
  deaths.add({ reason: 'failed', workspace: 'a' });
  expect(deaths.refusal('a')).toMatch('died 2 times');
  expect(deaths.refusal('b')).toBeUndefined();
});

import { expect, it } from 'vitest';
import { FailureHistory } from '../../../lib/sandboxes/host/failure-history.ts';

it('delays each further mount for longer, up to a maximum, until the failures are long ago', () => {
  let now = 0;
  const history = new FailureHistory(() => now);
  const waits = Array.from({ length: 8 }, () => history.add({ reason: 'the notifier failed' }));
  expect(waits).toEqual([0, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
  now = 600_000;
  expect(history.add({ reason: 'the notifier failed' })).toBe(0);
});

it('refuses a workspace for failures during its own requests only', () => {
  const history = new FailureHistory(() => 0);
  history.add({ reason: 'failed', workspace: 'a' });
  history.add({ reason: 'failed', workspace: 'b' });
  history.add({ reason: 'failed' });
  expect([history.refusal('a'), history.refusal('b')]).toEqual([undefined, undefined]);
  history.add({ reason: 'failed', workspace: 'a' });
  expect(history.refusal('a')).toMatch('died 2 times');
  expect(history.refusal('b')).toBeUndefined();
});

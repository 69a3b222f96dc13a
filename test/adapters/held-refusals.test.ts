import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HeldRefusals } from '../../adapters/held-refusals.ts';
import { ServiceError } from '../../lib/errors.ts';
import { Refusal } from '../../lib/limits/refusal.ts';

const held = new Refusal('RESOURCE_EXHAUSTED', 'too many', { holdMs: 1000 });
const prompt = new Refusal('RESOURCE_EXHAUSTED', 'too many', { holdMs: 0 });
let answered: string[];
let refusals: HeldRefusals;

beforeEach(() => {
  vi.useFakeTimers();
  answered = [];
  refusals = new HeldRefusals();
});
afterEach(() => {
  vi.useRealTimers();
});

const hold = (name: string, error: ServiceError, signal = new AbortController().signal) =>
  void refusals.hold(error, signal).then(() => answered.push(name));

it('answers of refusals are held as long as they say, and other answers are not', async () => {
  hold('held', held);
  hold('prompt', prompt);
  hold('other', new ServiceError('NOT_FOUND', 'x'));
  await vi.advanceTimersByTimeAsync(999);
  expect(answered).toEqual(['prompt', 'other']);
  await vi.advanceTimersByTimeAsync(1);
  expect(answered).toEqual(['prompt', 'other', 'held']);
});

it('a held answer ends with its call, and leaves no timer', async () => {
  const abort = new AbortController();
  hold('a', held, abort.signal);
  abort.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect([answered, vi.getTimerCount()]).toEqual([['a'], 0]);
  hold('b', held, abort.signal);
  await vi.advanceTimersByTimeAsync(0);
  expect(answered).toEqual(['a', 'b']);
});

it('no more answers are held than the limit', async () => {
  refusals = new HeldRefusals(2);
  for (const name of ['a', 'b', 'c']) hold(name, held);
  await vi.advanceTimersByTimeAsync(0);
  expect(answered).toEqual(['c']);
  await vi.advanceTimersByTimeAsync(1000);
  expect(answered).toEqual(['c', 'a', 'b']);
});

import { expect, it } from 'vitest';
import { DiscardPace } from '../../adapters/http/discard-pace.ts';

const MIB = 2 ** 20;
const body = (bytes: number) => ({ headers: { 'content-length': String(bytes) } });

it('bodies of refused requests are discarded one after the other, 32 MiB a second', () => {
  let now = 1000;
  const pace = new DiscardPace(() => now);
  expect([0, 1, 2].map(() => pace.wait(body(16 * MIB)))).toEqual([0, 500, 1000]);
  now += 1250;
  expect(pace.wait(body(16 * MIB))).toBe(250);
  now += 60_000;
  expect(pace.wait(body(16 * MIB))).toBe(0);
});

it('no request waits for longer than 7.5 seconds, whatever lengths others announce, and late ones are spread', () => {
  let now = 0;
  const pace = new DiscardPace(() => now);
  pace.wait(body(2 ** 40));
  const waits = Array.from({ length: 100 }, () => pace.wait(body(2 ** 40)));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(2500);
  expect(Math.max(...waits)).toBeLessThanOrEqual(7500);
  expect(waits.filter((wait) => wait < 5000).length).toBeGreaterThan(45);
  expect(waits.filter((wait) => wait > 5000).length).toBeGreaterThan(45);
  now = 10_000;
  expect(pace.wait(body(1))).toBe(0);
});

it('a body of unknown length counts as 1 MiB', () => {
  const pace = new DiscardPace(() => 0);
  const chunked = { headers: { 'transfer-encoding': 'chunked' } };
  expect([chunked, chunked].map((request) => pace.wait(request))).toEqual([0, 31.25]);
});

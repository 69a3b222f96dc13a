import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TokenBucket } from '../../../lib/limits/token-bucket.ts';

const rates = fc.record({
  perSecond: fc.double({ min: 0.01, max: 1000, noNaN: true }),
  burst: fc.integer({ min: 1, max: 1000 }),
});

it('a bucket never gives more than its burst and its rate since the first token', () => {
  fc.assert(
    fc.property(rates, fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 200 }), (rate, pauses) => {
      let now = 0;
      const bucket = new TokenBucket(() => now);
      let taken = 0;
      for (const pause of pauses) {
        now += pause;
        if (bucket.wait(rate) > 0) continue;
        bucket.take(rate);
        taken++;
        expect(taken).toBeLessThanOrEqual(rate.burst + (now * rate.perSecond) / 1000 + 1e-6);
      }
    }),
    { numRuns: 100 },
  );
});

it('a bucket without a token has one after the time that it names, and not a millisecond before', () => {
  fc.assert(
    fc.property(rates, (rate) => {
      let now = 0;
      const bucket = new TokenBucket(() => now);
      while (bucket.wait(rate) === 0) bucket.take(rate);
      const wait = bucket.wait(rate);
      now += wait - 1;
      if (wait > 1) expect(bucket.wait(rate)).toBeGreaterThan(0);
      // A rounding error of the additions may cost one more.
      now += 2;
      expect(bucket.wait(rate)).toBe(0);
    }),
    { numRuns: 100 },
  );
});

it('a bucket tells what is left, and when it is full', () => {
  let now = 0;
  const bucket = new TokenBucket(() => now);
  const rate = { perSecond: 10, burst: 5 };
  expect(bucket.state(rate)).toEqual({ limit: 5, remaining: 5, resetMs: 0 });
  for (let i = 0; i < 3; i++) bucket.take(rate);
  expect(bucket.state(rate)).toEqual({ limit: 5, remaining: 2, resetMs: 300 });
  now = 150;
  expect(bucket.state(rate)).toEqual({ limit: 5, remaining: 3, resetMs: 150 });
  now = 10_000;
  expect(bucket.state(rate)).toEqual({ limit: 5, remaining: 5, resetMs: 0 });
});

it('a rate of 0 limits nothing, and a new rate is in force at once', () => {
  const bucket = new TokenBucket(() => 0);
  const none = { perSecond: 0, burst: 0 };
  for (let i = 0; i < 100; i++) bucket.take(none);
  expect([bucket.wait(none), bucket.state(none)]).toEqual([0, undefined]);
  const low = { perSecond: 1, burst: 2 };
  bucket.take(low);
  bucket.take(low);
  expect(bucket.wait(low)).toBe(1000);
});

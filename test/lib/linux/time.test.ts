import { describe, expect, it } from 'vitest';
import { timeOf } from '../../../lib/linux/time.ts';

describe('timeOf', () => {
  it('is exact to the nanosecond in every year, also before 1970', () => {
    const seconds = [0n, 1n, 1_763_900_000n, 2n ** 31n, 2n ** 32n + 7n, 9_223_372_035n];
    for (const sec of seconds)
      for (const nsec of [0n, 1n, 499_999_999n, 500_000_000n, 999_999_872n, 999_999_999n]) {
        expect(timeOf(sec * 1_000_000_000n + nsec)).toEqual({ sec: Number(sec), nsec: Number(nsec) });
        expect(timeOf(-sec * 1_000_000_000n + nsec)).toEqual({ sec: Number(-sec), nsec: Number(nsec) });
      }
  });
});

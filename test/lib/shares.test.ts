import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Shares } from '../../lib/shares.ts';

describe('Shares', () => {
  it('grants one holder half of the whole, and the next one half of the rest', () => {
    const shares = new Shares<string>(100);
    expect(shares.take('a', 51)).toBe(false);
    expect(shares.take('a', 50)).toBe(true);
    expect(shares.take('a', 1)).toBe(false);
    expect(shares.take('b', 26)).toBe(false);
    expect(shares.take('b', 25)).toBe(true);
    expect(shares.available('c')).toBe(12);
  });

  it('allocates nothing if it refuses, and reuses freed amounts', () => {
    const shares = new Shares<string>(100);
    shares.take('a', 20);
    expect(shares.take('a', 90)).toBe(false);
    expect(shares.held('a')).toBe(20);
    shares.give('a', 20);
    expect(shares.available('a')).toBe(50);
  });

  it('leaves a share for each further holder, however much the others take', () => {
    const amounts = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 4000 })), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(amounts, (takes) => {
        const shares = new Shares<number>(10_000);
        for (const [holder, amount] of takes) shares.take(holder, amount);
        const holders = new Set(takes.map(([holder]) => holder)).size;
        expect(shares.available(99)).toBeGreaterThanOrEqual(Math.floor(10_000 / 2 ** holders / 2));
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { growthOf } from '../../../../lib/workspaces/delta/disk-share.ts';

const RESERVE = 100;
const growth = (held: number, free: number) => growthOf(held, { free, reserve: RESERVE });

describe('the growth of a delta on a disk with a reserve', () => {
  it('is all beyond a second reserve, however much the delta holds', () => {
    expect(growth(100_000, 1000)).toBe(900);
  });

  it('ends for the largest first, and for all at the reserve', () => {
    expect([0, 40, 60, 80].map((held) => growth(held, 60))).toEqual([30, 10, 0, 0]);
    expect(growth(0, 0)).toBe(0);
    expect(growth(0, -10)).toBe(0);
  });

  it('is as much as can be added in small parts', () => {
    let [held, free, added] = [20, 150, 0];
    const first = growth(held, free);
    while (growth(held, free) >= 1) [held, free, added] = [held + 1, free - 1, added + 1];
    expect(Math.abs(added - first)).toBeLessThanOrEqual(1);
  });
});

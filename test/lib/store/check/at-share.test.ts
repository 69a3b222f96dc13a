import { describe, expect, it } from 'vitest';
import { atShare } from '../../../../lib/store/check/at-share.ts';

describe('steps at a share of a core', () => {
  it('take turns, and wait in between for what the share says', () => {
    let now = 0;
    const told: number[] = [];
    function* steps(): Generator<number, void, void> {
      for (let step = 0; step < 8; step++) {
        now += 1;
        yield step;
      }
    }
    const turn = atShare(
      steps(),
      0.01,
      (value) => told.push(value),
      () => now,
    );
    expect(turn()).toBe(4 * 99);
    expect(told).toEqual([0, 1, 2, 3]);
    expect(turn()).toBe(4 * 99);
    expect(turn()).toBeUndefined();
    expect(told).toHaveLength(8);
  });
});

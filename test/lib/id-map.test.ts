import { expect, it } from 'vitest';
import { IdMap } from '../../lib/id-map.ts';

/** Pseudorandom numbers below `n`, the same in each run. */
function numbers(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % n;
  };
}

it('is read from the newest id to the oldest, as a sorted map, after any changes', () => {
  const next = numbers(7);
  const map = new IdMap<number>();
  const model = new Map<string, number>();
  for (let step = 0; step < 3000; step++) {
    const id = `sb_${String(next(200)).padStart(3, '0')}`;
    if (next(3) === 0) expect(map.delete(id)).toBe(model.delete(id));
    else {
      map.set(id, step);
      model.set(id, step);
    }
    if (step % 10 > 0) continue;
    const sorted = [...model].sort(([a], [b]) => (a < b ? 1 : -1));
    expect([...map.newestFirst()]).toEqual(sorted.map(([, value]) => value));
    const before = `sb_${String(next(200)).padStart(3, '0')}`;
    expect([...map.newestFirst(before)]).toEqual(sorted.filter(([key]) => key < before).map(([, value]) => value));
  }
  map.clear();
  expect([...map.newestFirst(), map.size]).toEqual([0]);
});

import { describe, expect, it } from 'vitest';
import { Cache } from '../../../lib/store/cache.ts';

const SIZE = 1000;

describe('a cache', () => {
  it('keeps the values that were used last, by their bytes', () => {
    const cache = new Cache<string, number>(4 * (SIZE + 300), 0);
    const part = cache.part();
    for (let n = 0; n < 4; n++) part.set(`k${n}`, n, SIZE);
    part.get('k0');
    part.set('k4', 4, SIZE);
    expect(['k0', 'k1', 'k2', 'k3', 'k4'].map((key) => part.get(key))).toEqual([0, undefined, 2, 3, 4]);
    part.set('k5', 5, 3 * SIZE);
    expect(['k0', 'k2', 'k3', 'k4', 'k5'].map((key) => part.get(key))).toEqual([undefined, undefined, undefined, 4, 5]);
    expect(cache.bytes).toBeLessThanOrEqual(4 * (SIZE + 300));
  });

  it('keeps a few values however large they are', () => {
    const part = new Cache<string, number>(10, 2).part();
    for (let n = 0; n < 4; n++) part.set(`k${n}`, n, SIZE);
    expect(['k0', 'k1', 'k2', 'k3'].map((key) => part.get(key))).toEqual([undefined, undefined, 2, 3]);
  });

  it('is one limit for several stores, of which none sees what another has', () => {
    const cache = new Cache<string, number>(2 * (SIZE + 300), 0);
    const [one, other] = [cache.part(), cache.part()];
    one.set('k', 1, SIZE);
    other.set('k', 2, SIZE);
    expect([one.get('k'), other.get('k')]).toEqual([1, 2]);
    other.set('l', 3, SIZE);
    expect([one.get('k'), other.get('k'), other.get('l')]).toEqual([undefined, 2, 3]);
    other.clear();
    expect([other.get('k'), cache.bytes]).toEqual([undefined, 0]);
  });

  it('forgets and replaces values with their bytes', () => {
    const cache = new Cache<string, number>(10 * SIZE);
    const part = cache.part();
    part.set('k', 1, SIZE);
    part.set('k', 2, 2 * SIZE);
    expect([part.get('k'), cache.bytes]).toEqual([2, 2 * SIZE + 300]);
    part.delete('k');
    part.delete('k');
    expect([part.get('k'), cache.bytes]).toEqual([undefined, 0]);
  });
});

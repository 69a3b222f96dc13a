import { describe, expect, it } from 'vitest';
import { isId, newId } from '../../lib/ids.ts';

describe('an id', () => {
  it('has its prefix and 25 characters that are safe in URLs and file names', () => {
    expect(newId('cb')).toMatch(/^cb_[0-9a-z]{25}$/);
  });

  it('sorts by creation time', () => {
    const times = [0, 1, 31, 32, 1023, 1024, 1_700_000_000_000, 1_700_000_000_001, 32 ** 9 - 1];
    const ids = times.map((time) => newId('sb', time));
    expect(ids.toSorted()).toEqual(ids);
  });

  it('differs from all others of its millisecond', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId('sb', 5))).size).toBe(10_000);
  });

  it('has every digit at every random place', () => {
    const ids = Array.from({ length: 2000 }, () => newId('sb', 5));
    for (let place = 12; place < 28; place++) expect(new Set(ids.map((id) => id[place])).size).toBe(32);
  });

  it('is recognised by its form and prefix only', () => {
    const id = newId('cb');
    expect(isId('cb', id)).toBe(true);
    expect(isId('sb', id)).toBe(false);
    for (const other of ['', 'cb_', 'cb_..', `${id}/`, `${id}\n`, id.toUpperCase(), `${id.slice(0, -1)}/`, `${id}0`]) {
      expect([other, isId('cb', other)]).toEqual([other, false]);
    }
  });
});

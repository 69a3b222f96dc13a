import { expect, it } from 'vitest';
import { fromText } from '../../../../../lib/byte-string.ts';
import { Entries } from '../../../../../lib/workspaces/delta/index/entries.ts';

/** A directory of this size is divided. */
const MANY = 40_000;
const nameOf = (number: number) => fromText(`name-${number}`);

it('a large directory has the entries that were set and not deleted', () => {
  const entries = new Entries<{ number: number }>();
  for (let number = 0; number < MANY; number++) expect(entries.set(nameOf(number), { number })).toBe(1);
  expect(entries.set(nameOf(7), { number: -7 })).toBe(0);
  for (let number = 0; number < MANY; number += 2) expect(entries.delete(nameOf(number))).toBe(-1);
  expect(entries.delete(nameOf(0))).toBe(0);
  expect(entries.size).toBe(MANY / 2);
  expect([entries.get(nameOf(7))?.number, entries.get(nameOf(8)), entries.has(nameOf(8))]).toEqual([
    -7,
    undefined,
    false,
  ]);
  const odd = Array.from({ length: MANY / 2 }, (_, half) => nameOf(half * 2 + 1)).sort();
  expect([...entries.keys()].sort()).toEqual(odd);
  expect([...entries.found()].map(([name]) => name).sort()).toEqual(odd);
});

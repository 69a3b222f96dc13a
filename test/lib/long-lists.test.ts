import fc from 'fast-check';
import { expect, it } from 'vitest';
import { every, filtered, forEach, sorting } from '../../lib/long-lists.ts';

const MANY = Array.from({ length: 20_000 }, (_, index) => index);

/** Whether other events were handled while `work` ran. */
async function isInterrupted(work: () => Promise<unknown>): Promise<boolean> {
  let handled = false;
  setImmediate(() => (handled = true));
  await work();
  return handled;
}

/** Takes some microseconds. */
const busy = (item: number) => Math.hypot(...Array.from({ length: 16 }, () => item)) >= 0;

it('visits all items in order and lets other events be handled in between', async () => {
  const seen: number[] = [];
  const visit = (item: number, index: number) => void (busy(item) && seen.push(index));
  expect(await isInterrupted(() => forEach(MANY, visit))).toBe(true);
  expect(seen).toEqual(MANY);
});

it('keeps the items that match, and tells whether all do', async () => {
  expect(await filtered(MANY, (item) => item % 2 === 0)).toEqual(MANY.filter((item) => item % 2 === 0));
  expect(await every(MANY, (item) => item < 20_000)).toBe(true);
  expect(await every(MANY, (item) => item !== 19_999)).toBe(false);
  expect(await isInterrupted(() => every(MANY, busy))).toBe(true);
});

it('sorts like Array.sort, stable, in steps', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { maxLength: 2000 }), (keys) => {
      const items = keys.map((key, index) => ({ key, index }));
      const compare = (a: { key: number }, b: { key: number }) => a.key - b.key;
      const steps = sorting(items, compare);
      let [taken, sorted] = [0, undefined as readonly unknown[] | undefined];
      for (; sorted === undefined; taken++) sorted = steps.next().value ?? undefined;
      expect(sorted).toEqual([...items].sort(compare));
      if (items.length > 1000) expect(taken).toBeGreaterThan(3);
    }),
  );
});

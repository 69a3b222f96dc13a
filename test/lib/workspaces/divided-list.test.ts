import { expect, it } from 'vitest';
import { DividedList } from '../../../lib/workspaces/divided-list.ts';

const MANY = 10_000;

function filled(count: number): DividedList<number> {
  const list = new DividedList<number>();
  for (let number = 0; number < count; number++) list.push(number);
  return list;
}

it('has all items in order, in parts of a bounded length', () => {
  for (const count of [0, 1, 4096, 4097, MANY]) {
    const list = filled(count);
    expect(list.length).toBe(count);
    expect([...list]).toEqual(Array.from({ length: count }, (_, number) => number));
    expect(Math.max(...list.parts.map(({ length }) => length))).toBeLessThanOrEqual(4096);
  }
});

it('returns the last items first, and takes others again', () => {
  const list = filled(MANY);
  for (let number = MANY - 1; number >= 5000; number--) expect(list.pop()).toBe(number);
  list.push(-1);
  expect([list.length, list.pop(), list.pop()]).toEqual([5001, -1, 4999]);
  while (list.pop() !== undefined);
  expect([list.length, [...list], list.pop()]).toEqual([0, [], undefined]);
  list.push(7);
  expect([...list]).toEqual([7]);
});

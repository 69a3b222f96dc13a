import { describe, expect, it } from 'vitest';
import { InodeNumbers } from '../../../../lib/workspaces/tree/inode-numbers.ts';

function leasing(count: number) {
  let next = 100;
  const leased: number[] = [];
  return {
    leased,
    lease: () => {
      leased.push(next);
      next += 1000;
      return { next: next - 1000, end: next - 1000 + count };
    },
  };
}

describe('inode numbers', () => {
  it('come from blocks, each leased when it is needed', () => {
    const { lease, leased } = leasing(2);
    const numbers = new InodeNumbers(lease, []);
    expect(leased).toEqual([]);
    expect([1, 2, 3].map(() => numbers.next())).toEqual([100, 101, 1100]);
    expect(numbers.left).toEqual([{ next: 1101, end: 1102 }]);
  });

  it('are not given twice after a restart: those of replayed records are taken', () => {
    const numbers = new InodeNumbers(leasing(10).lease, [
      { next: 7, end: 20 },
      { next: 40, end: 42 },
    ]);
    for (const ino of [3, 9, 8, 30, 41]) numbers.note(ino);
    expect(numbers.next()).toBe(10);
    expect(numbers.left).toEqual([{ next: 11, end: 20 }]);
  });

  it('stay as they are if no block is to be had', () => {
    const numbers = new InodeNumbers(() => {
      throw new Error('full');
    }, [{ next: 5, end: 6 }]);
    expect(numbers.next()).toBe(5);
    expect(() => numbers.next()).toThrow('full');
    expect(numbers.left).toEqual([]);
  });
});

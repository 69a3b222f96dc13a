import { describe, expect, it } from 'vitest';
import { InodeNumbers } from '../../../../lib/workspaces/tree/inode-numbers.ts';

function leasing(count: number) {
  let first = 100;
  const leased: number[] = [];
  return {
    leased,
    lease: () => {
      leased.push(first);
      first += 1000;
      return { first: first - 1000, count };
    },
  };
}

describe('inode numbers', () => {
  it('come from blocks, each leased when it is needed', () => {
    const { lease, leased } = leasing(2);
    const numbers = new InodeNumbers(lease, []);
    expect(leased).toEqual([]);
    expect([1, 2, 3].map(() => numbers.next())).toEqual([100, 101, 1100]);
    expect(numbers.blocks).toEqual([
      { first: 100, end: 102, next: 102 },
      { first: 1100, end: 1102, next: 1101 },
    ]);
  });

  it('are not given twice after a restart: those of replayed records are taken', () => {
    const numbers = new InodeNumbers(leasing(10).lease, [{ first: 5, end: 20, next: 7 }]);
    for (const ino of [3, 9, 8, 30]) numbers.note(ino);
    expect(numbers.next()).toBe(10);
  });

  it('stay as they are if no block is to be had', () => {
    const block = { first: 5, end: 6, next: 6 };
    const numbers = new InodeNumbers(() => {
      throw new Error('full');
    }, [block]);
    expect(() => numbers.next()).toThrow('full');
    expect(numbers.blocks).toEqual([block]);
  });
});

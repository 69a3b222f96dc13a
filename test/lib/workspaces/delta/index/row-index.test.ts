import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RowIndex } from '../../../../../lib/workspaces/delta/index/row-index.ts';

/** Few hashes, so that rows collide. */
const hashOf = (row: number) => Math.imul(row % 5, 0x40000001) - 2;
const find = (index: RowIndex, row: number) => index.find(hashOf(row), (other) => other === row);

describe('RowIndex', () => {
  it('removes nothing from an empty table', () => {
    const index = new RowIndex(hashOf);
    index.remove(hashOf(3), 3);
    expect(find(index, 3)).toBeUndefined();
  });

  it('has the rows that were added and not removed', () => {
    const operation = fc.record({ adds: fc.boolean(), row: fc.nat(40) });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
        const index = new RowIndex(hashOf);
        const rows = new Set<number>();
        for (const { adds, row } of operations) {
          if (!adds) index.remove(hashOf(row), row);
          else if (!rows.has(row)) index.add(hashOf(row), row);
          if (adds) rows.add(row);
          else rows.delete(row);
          expect(find(index, row)).toBe(adds ? row : undefined);
        }
        for (let row = 0; row <= 40; row++) expect(find(index, row)).toBe(rows.has(row) ? row : undefined);
      }),
    );
  });

  it('grows a few rows at a time', () => {
    let hashed = 0;
    const index = new RowIndex((row) => {
      hashed++;
      return Math.imul(row, 0x9e3779b1);
    });
    let most = 0;
    for (let row = 0; row < 20_000; row++) {
      const before = hashed;
      index.add(Math.imul(row, 0x9e3779b1), row);
      most = Math.max(most, hashed - before);
      if (row % 3 === 0) index.remove(Math.imul(row, 0x9e3779b1), row);
    }
    expect(most).toBeLessThanOrEqual(16);
    for (let row = 0; row < 20_000; row++) {
      expect(index.find(Math.imul(row, 0x9e3779b1), (other) => other === row)).toBe(row % 3 === 0 ? undefined : row);
    }
  });
});

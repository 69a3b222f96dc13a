import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromText } from '../../../../../lib/byte-string.ts';
import { PathTree } from '../../../../../lib/workspaces/delta/index/path-tree.ts';

const paths = ['', 'a', 'b', 'a/a', 'a/b', 'a/b/a', 'a/b/b', 'b/a', 'b/a/a/a', `b/${'x'.repeat(255)}`].map(fromText);

describe('PathTree', () => {
  it('finds the paths that were added, with those above them, until their last use is removed', () => {
    const operation = fc.record({ adds: fc.boolean(), path: fc.constantFrom(...paths) });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 100 }), (operations) => {
        const tree = new PathTree();
        const rows = new Map(paths.map((path) => [path, [] as number[]]));
        for (const { adds, path } of operations) {
          const uses = rows.get(path)!;
          if (adds) uses.push(tree.add(path));
          else if (uses.length > 0) tree.remove(uses.pop()!);
          expect(new Set(uses).size).toBeLessThanOrEqual(1);
          for (const [other, of] of rows) {
            const found = tree.find(other);
            if (of.length > 0) expect(found).toBe(of[0]);
            const isAbove = [...rows].some(([below, { length }]) => length > 0 && below.startsWith(`${other}/`));
            expect(found !== undefined).toBe(other === '' || of.length > 0 || isAbove);
            if (found !== undefined) expect(tree.path(found)).toBe(other);
          }
        }
        for (const uses of rows.values()) for (const row of uses) tree.remove(row);
        expect(tree.memory).toBe(0);
      }),
    );
  });

  it('keeps its paths while the room of many removed names is used again', () => {
    const tree = new PathTree();
    const kept = tree.add(fromText('kept/path'));
    const pathOf = (number: number) => fromText(`${'n'.repeat(200)}-${number}`);
    for (let number = 0; number < 1000; number++) {
      tree.remove(tree.add(pathOf(number)));
      expect(tree.find(pathOf(number))).toBeUndefined();
    }
    expect(tree.path(kept)).toBe('kept/path');
    expect(tree.find(fromText('kept/path'))).toBe(kept);
  });

  it('finds, adds and removes paths while the names of many rows are packed', () => {
    const tree = new PathTree();
    const pathOf = (number: number) => fromText(`${'n'.repeat(90)}-${number}`);
    const rows = new Map(Array.from({ length: 2000 }, (_, number) => [number, tree.add(pathOf(number))]));
    for (let number = 0; number < 2000; number++) {
      if (number % 4 === 0) continue;
      tree.remove(rows.get(number)!);
      rows.delete(number);
      if (number % 10 === 1) rows.set(number + 5000, tree.add(pathOf(number + 5000)));
    }
    for (const [number, row] of rows) {
      expect(tree.find(pathOf(number))).toBe(row);
      expect(tree.path(row)).toBe(pathOf(number));
    }
    expect(tree.find(pathOf(1))).toBeUndefined();
    for (const row of rows.values()) tree.remove(row);
    expect(tree.memory).toBe(0);
  });
});

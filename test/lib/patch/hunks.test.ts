import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hunksOf, withHunks } from '../../../lib/patch/hunks.ts';

const text = fc
  .array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'long line\n'), { maxLength: 30 })
  .chain((lines) => fc.constantFrom('', 'end').map((end) => lines.join('') + end));

const all = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('hunks', () => {
  it('all hunks of two texts make the second one of the first', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const hunks = hunksOf(before, after);
        expect(withHunks(before, after, all(hunks.length)) ?? before).toBe(after);
      }),
    );
  });

  it('the hunks that are not chosen are those that the result still lacks', () => {
    fc.assert(
      fc.property(text, text, fc.infiniteStream(fc.boolean()), (before, after, choices) => {
        const indexes = all(hunksOf(before, after).length).filter(() => choices.next().value);
        const part = withHunks(before, after, indexes) ?? before;
        const missing = hunksOf(before, after).filter((_, index) => !indexes.includes(index));
        // A later comparison may match equal lines in another way, but has the same result.
        expect(withHunks(part, after, all(hunksOf(part, after).length)) ?? part).toBe(after);
        expect(part === after).toBe(missing.length === 0);
      }),
    );
  });

  it('each hunk names its lines in both texts, with at most three equal lines on each side', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = (of: string) => of.match(/[^\n]*\n|[^\n]+$/g) ?? [];
        const [a, b] = [lines(before), lines(after)];
        for (const hunk of hunksOf(before, after)) {
          const from = hunk.old_start - 1;
          const [above, below] = [lines(hunk.before), lines(hunk.after)];
          expect(a.slice(from, from + hunk.old_lines).join('')).toBe(hunk.removed);
          expect(b.slice(hunk.new_start - 1, hunk.new_start - 1 + hunk.new_lines).join('')).toBe(hunk.added);
          expect(a.slice(from - above.length, from)).toEqual(above);
          expect(a.slice(from + hunk.old_lines, from + hunk.old_lines + below.length)).toEqual(below);
          expect(Math.max(above.length, below.length)).toBeLessThanOrEqual(3);
        }
      }),
    );
  });

  it.each([[[]], [[1]], [[-1]], [[0, 0]]])('a choice of %j, of one hunk, is none', (indexes) => {
    expect(withHunks('a\n', 'b\n', indexes)).toBeUndefined();
  });
});

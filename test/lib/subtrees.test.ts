import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ByteString, fromText, ROOT_PATH } from '../../lib/byte-string.ts';
import { directoriesAbove, Subtrees } from '../../lib/subtrees.ts';

const name = fc.constantFrom('a', 'b', 'ab', 'a.b');
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => fromText(names.join('/')));
const paths = fc.array(path, { maxLength: 12 });
const isBelow = (each: ByteString, top: ByteString) => top === ROOT_PATH || each.startsWith(`${top}/`);

it('contain the same paths as a comparison with each of their tops', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 9, arbitrary: path }, fc.constant(ROOT_PATH)), { maxLength: 5 }),
      paths,
      (tops, all) => {
        const subtrees = new Subtrees(tops);
        for (const each of [...all, ...all]) {
          expect(subtrees.has(each)).toBe(tops.some((top) => each === top || isBelow(each, top)));
        }
      },
    ),
  );
});

it('are above the same paths as a comparison with each of them', async () => {
  await fc.assert(
    fc.asyncProperty(paths, paths, async (all, asked) => {
      const above = await directoriesAbove(all);
      for (const each of asked) expect(above.has(each)).toBe(all.some((below) => isBelow(below, each)));
    }),
  );
});

import { expect, it } from 'vitest';
import { PathSearch } from '../../../lib/text-tools/path-search.ts';

const finds = (pattern: string, path: string) => new PathSearch({ pattern, exclude: [] }).finds(path);

it.each([
  ['*.ts', 'a.ts', true],
  ['*.ts', 'b/a.ts', false],
  ['**/*.ts', 'a.ts', true],
  ['**/*.ts', 'b/c/.a.ts', true],
  ['**', 'a/b', true],
  ['src/**', 'src/a/b', true],
  ['src/**', 'src', true],
  ['src/**/x', 'src/x', true],
  ['[!a-c]x', 'bx', false],
  ['{a,b}/{c,d}', 'b/d', true],
  ['./a', 'a', true],
  ['*', 'ä', true],
  ['?', '😀', true],
  ['a.c', 'abc', false],
])('%s finds %s: %s', (pattern, path, expected) => {
  expect(finds(pattern, path)).toBe(expected);
});

it('leaves out what is excluded with everything below', () => {
  const search = new PathSearch({ exclude: ['b', '**/e/**'] });
  const paths = ['a', 'b', 'b/c', 'b-c', 'b/d', 'd', 'd/e', 'd/e/f', 'd/g'];
  expect(paths.filter((path) => search.finds(path))).toEqual(['a', 'b-c', 'd', 'd/g']);
});

it('refuses a glob by the name of its argument', () => {
  const refusal =
    (pattern: string, exclude: string[] = []) =>
    () =>
      new PathSearch({ pattern, exclude });
  expect(refusal('a[b')).toThrow(/^pattern "a\[b" has an unclosed "\["/);
  expect(refusal('{a,b}'.repeat(20))).toThrow(/^pattern .*more than 256 alternatives/);
  expect(refusal('a', ['b', '**c'])).toThrow(/^exclude\[1\] "\*\*c" has a "\*\*" beside other characters/);
});

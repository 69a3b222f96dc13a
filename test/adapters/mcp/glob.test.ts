import { expect, it } from 'vitest';
import { glob } from '../../../adapters/mcp/glob.ts';

it.each([
  ['*.ts', 'a.ts', true],
  ['*.ts', 'b/a.ts', false],
  ['**/*.ts', 'a.ts', true],
  ['**/*.ts', 'b/c/.a.ts', true],
  ['**', 'a/b', true],
  ['src/**', 'src/a/b', true],
  ['src/**', 'src', false],
  ['**/e/**', 'd/e', false],
  ['**/e/**', 'd/e/f', true],
  ['src/**/x', 'src/x', true],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[^a]', 'b', true],
  ['*.{js,ts}', 'a.ts', true],
  ['{a,b}/{c,d}', 'b/d', true],
  ['{a,b}/{c,d}', 'b/e', false],
  ['a[b', 'a[b', true],
  ['./a', 'a', true],
  ['**a', 'bca', true],
  ['*', 'ä', true],
  ['?', '😀', true],
  ['a.c', 'abc', false],
  ['(a+)+$', '(a+)+$', true],
])('%s and %s: %s', (pattern, path, expected) => {
  expect(glob(pattern, 'pattern')(path)).toBe(expected);
});

it('takes at most pattern × path, and refuses patterns that multiply', () => {
  const matches = glob(`${'*a'.repeat(400)}b`, 'pattern');
  expect(matches('a'.repeat(4000))).toBe(false);
  expect(glob(`${'**/a/'.repeat(150)}b`, 'pattern')('a/'.repeat(2000))).toBe(false);
  expect(() => glob('{a,b}'.repeat(20), 'pattern')).toThrow(/pattern must have fewer than 64 alternatives/);
  expect(() => glob('x'.repeat(1001), 'pattern')).toThrow(/at most 1000 characters/);
});

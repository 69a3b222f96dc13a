import fc from 'fast-check';
import { expect, it } from 'vitest';
import { paint } from '../../../clients/cli/src/output/paint.ts';
import { shownPatch } from '../../../clients/cli/src/output/patch.ts';
import { mergeTexts } from '../../../clients/cli/src/run/merge.ts';

const merge = (base: string, ours: string, theirs: string): string | undefined => {
  const merged = mergeTexts(Buffer.from(base), Buffer.from(ours), Buffer.from(theirs));
  return merged && Buffer.from(merged).toString();
};

it.each([
  ['a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\n', 'A\nb\nC\n'],
  ['a\nb\nc\n', 'A\nb\nc\n', 'A\nb\nc\n', 'A\nb\nc\n'],
  ['a\nb\nc\n', 'A\nb\nc\n', 'x\nb\nc\n', undefined],
  ['a\r\nb\r\nc\r\n', 'A\r\nb\r\nc\r\n', 'a\r\nb\r\nc', 'A\r\nb\r\nc'],
  ['', 'x\n', 'y\n', undefined],
  ['a\n', '', 'a\n', ''],
  ['a\0', 'b\0', 'a\0', undefined],
  ['\ufeffa\nb\nc\n', '\ufeffa\nb\nC\n', '\ufeffA\nb\nc\n', '\ufeffA\nb\nC\n'],
])('merges %j, %j, %j', (base, ours, theirs, expected) => {
  expect(merge(base, ours, theirs)).toBe(expected);
});

it('leaves what is no text of UTF-8', () => {
  const latin = Buffer.from([0xe4, 0x0a]);
  expect(mergeTexts(latin, Buffer.concat([latin, latin]), latin)).toBeUndefined();
});

it('has the changes of one side if the other one has none, and is the same in both directions', () => {
  const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'd')).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, text, text, (base, ours, theirs) => {
      expect(merge(base, ours, base)).toBe(ours);
      expect(merge(base, base, theirs)).toBe(theirs);
      expect(merge(base, ours, theirs)).toBe(merge(base, theirs, ours));
    }),
  );
});

it('shows a patch without escape sequences, in colour, and cuts what is long', () => {
  const section = (body: string) => `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n${body}\n`;
  const patch = section('-a\x1b[31m\n+b\u202e') + section('+x\n'.repeat(1000).trimEnd());
  const plain = shownPatch(patch, paint(false));
  expect(plain).toMatch(/^diff --git a\/x b\/x\n.*\n-a\\x1b\[31m\n\+b\\u\{202e\}\ndiff/s);
  expect(plain.split('\n').length).toBeLessThan(420);
  expect(plain).toMatch(/… 604 more lines\n$/);
  expect(shownPatch(patch, paint(true))).toContain('\x1b[32m+b\\u{202e}\x1b[0m\n');
  expect(shownPatch('', paint(true))).toBe('');
  expect(shownPatch('diff --git a/b b/b\nGIT binary patch\nliteral 3\nabc\n', paint(false))).not.toContain('literal');
});

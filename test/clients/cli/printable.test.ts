import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CliError, sentenceOf } from '../../../clients/cli/src/command-line/errors.ts';
import { printableName, printableText, quotedName } from '../../../clients/cli/src/output/printable.ts';

it('shows escape sequences, and characters that reorder text, as escapes', () => {
  expect(printableText('a\x1b]52;c;eA==\x07\r\n\tb\x9b0m\u202ex\ufeff')).toBe(
    'a\\x1b]52;c;eA==\\x07\\x0d\n\tb\\x9b0m\\u{202e}x\\u{feff}',
  );
  expect(printableName('a\nb\x1bc')).toBe('a\\nb\\x1bc');
  expect(printableText('naïve 日本 👍')).toBe('naïve 日本 👍');
  expect(sentenceOf(new CliError('a\n  b\x1b[2J'))).toBe('a b\\x1b[2J');
});

it('never lets a control character through, and quotes different names differently', () => {
  const name = fc.string({ unit: fc.constantFrom('\\', 'n', '\n', 'x', '0', '1', 'b', '\x1b', '\u202e', '\t') });
  fc.assert(
    fc.property(name, name, (a, b) => {
      expect(quotedName(a)).toMatch(/^[\x20-\x7e]*$/);
      expect(quotedName(a) === quotedName(b)).toBe(a === b);
    }),
  );
});

import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellQuote, shellQuotedBytes } from '../../../../lib/runtime/executor/shell-quote.ts';

describe('shellQuote', () => {
  it.each([
    ['', "''"],
    ['a b', "'a b'"],
    ["it's", "'it'\\''s'"],
    ["'", "''\\'''"],
    ['$(id)`id`\n\\', "'$(id)`id`\n\\'"],
  ])('quotes %j', (text, quoted) => {
    expect(shellQuote(text)).toBe(quoted);
    expect(shellQuotedBytes(text).toString()).toBe(quoted);
  });

  it('refuses NUL', () => {
    expect(() => shellQuote('a\0b')).toThrow(RangeError);
    expect(() => shellQuotedBytes('a\0b')).toThrow(RangeError);
  });

  it('results in exactly the text in every available shell', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 }).filter((each) => !each.includes('\0'));
    const hostile = fc.array(fc.constantFrom("'", '\\', '$', '`', '\n', '"', '!', '*', ' ', '-', 'a'), {
      maxLength: 30,
    });
    const word = fc.oneof(
      text,
      hostile.map((parts) => parts.join('')),
    );
    // The words of one run share a shell: an unclosed quote would include the next word.
    fc.assert(
      fc.property(fc.array(word, { minLength: 50, maxLength: 50 }), (words) => {
        const script = words.map((each) => `printf '%s\\0' ${shellQuote(each)}`).join('\n');
        for (const each of words) expect(shellQuotedBytes(each)).toEqual(Buffer.from(shellQuote(each)));
        for (const shell of ['/bin/sh', '/bin/bash']) {
          const output = execFileSync(shell, { input: script, env: {} }).toString('utf8');
          expect(output).toBe(Buffer.from(words.map((each) => `${each}\0`).join('')).toString('utf8'));
        }
      }),
      { numRuns: 10 },
    );
  });
});

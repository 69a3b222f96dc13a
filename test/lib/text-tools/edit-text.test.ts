import { describe, expect, it } from 'vitest';
import { editText, fenced } from '../../../lib/text-tools/edit-text.ts';

const edited = (text: string, oldText: string, newText: string) => {
  const { stored, diff } = editText({ bytes: Buffer.from(text), edits: [{ oldText, newText }], path: '/a' });
  return { stored: stored && Buffer.from(stored).toString(), diff };
};

describe('the fence of a diff', () => {
  it.each([
    ['', 3],
    ['``\n', 3],
    ['```\n', 4],
    ['`` ````` ```\n', 6],
    ['`'.repeat(1_000_000), 1_000_001],
  ])('is longer than each run of backticks in it (%#)', (diff, length) => {
    expect(fenced(diff)).toBe(`${'`'.repeat(length)}diff\n${diff}${'`'.repeat(length)}\n\n`);
  });
});

it('a text that is as it was is not stored', () => {
  expect(edited('a\n', 'a', 'a').stored).toBeUndefined();
  expect(edited('a\n', 'a', 'b').stored).toBe('b\n');
});

it('a file that is not UTF-8 is refused', () => {
  expect(() => editText({ bytes: Buffer.from([255]), edits: [], path: '/a' })).toThrow(/not UTF-8/);
});

/** CPU milliseconds of this thread. */
function costOf(work: () => unknown): number {
  const before = process.cpuUsage();
  try {
    work();
  } catch {
    // What is not found is refused after the same work.
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('the time is linear for', () => {
  it.each([
    ['many equal lines', (n: number) => edited(' a\n'.repeat(n), `${'a\n'.repeat(n / 2)}b`, '')],
    ['one long run of a character', (n: number) => edited('a'.repeat(4 * n), `b${'a'.repeat(2 * n)}`, '')],
    ['a file of backticks', (n: number) => edited('`'.repeat(4 * n), '`', 'x')],
    ['lines that are equal up to their ends', (n: number) => edited('ab\n '.repeat(n), 'ab\nab\n'.repeat(n / 4), '')],
  ])('%s', (_, work) => {
    costOf(() => work(10_000));
    // Eight times the lines took 64 times as long: minutes.
    expect(costOf(() => work(200_000))).toBeLessThan(5000);
  });
});

it.each([
  ['replace a million texts by long ones', ' ', 'x'.repeat(1_000_000), 'characters in the file'],
  ['replace a million texts a hundred times', '\n', '\n', 'replacements together'],
])('edits that %s are refused before they are made', (_, oldText, newText, problem) => {
  const edits = Array.from({ length: 100 }, () => ({ oldText, newText, replace_all: true }));
  const bytes = Buffer.alloc(1024 * 1024, oldText);
  expect(() => editText({ bytes, edits, path: '/a' })).toThrow(new RegExp(`^edits must .* at most \\d+ ${problem}`));
});

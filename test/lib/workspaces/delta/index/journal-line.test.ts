import { describe, expect, it } from 'vitest';
import { JournalLine } from '../../../../../lib/workspaces/delta/index/journal-line.ts';
import { plainLine, sealedLine } from '../../../../../lib/workspaces/delta/index/journal-lines.ts';

const line = new JournalLine();

function expectSealed(record: readonly unknown[], before = 0): void {
  const sealed = sealedLine(record, before);
  line.encode(record, before);
  expect({ line: line.text, sum: line.sum }).toEqual(sealed);
  expect(line.length).toBe(sealed.line.length);
}

describe('a journal line as bytes', () => {
  it('is the same as its text for the operations of a request', () => {
    const times = [1_700_000_000, 999_999_999, -1, 0, 1, 5];
    const made = ['new', 7, 2 ** 48 + 3, 0o100644, 64_001, 64_001, times, ['abc.1', 7, -1, 0, 0, 0]];
    expectSealed([made, ['link', 1, 'a name.txt', 7], ['touch', 1, 1_700_000_000, 123]]);
    expectSealed([['data', 7, 'abc.1', 7, 0, 4096, 1_700_000_000, 5, 0xffffffff]], 0xffffffff);
    expectSealed(
      [
        ['origin', 3, null],
        ['seen', 'a/b', 1, 2, 3],
      ],
      1,
    );
  });

  it('has numbers of all lengths, and others as JSON has them', () => {
    for (let digits = 0; digits < 16; digits++) {
      const limit = 10 ** digits;
      for (const value of [limit - 1, limit, limit + 1, limit * 3]) expectSealed([[value, -value, [value]]], digits);
    }
    expectSealed([[-0, 2 ** 31 - 1, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]]);
    expectSealed([[0.5, 1e21, Number.NaN, true, undefined, null]]);
  });

  it('has checksums of all lengths', () => {
    const lengths = new Set<number>();
    for (let before = 0; before < 3000; before++) {
      expectSealed([[before]], before * 1_000_003);
      lengths.add(String(line.sum).length);
    }
    expect(lengths.size).toBeGreaterThan(2);
  });

  it('has every byte that a name can have', () => {
    for (let byte = 0; byte < 256; byte++) expectSealed([['drop', 1, `a${String.fromCharCode(byte)}b`]], byte);
  });

  it('has any length, up to and beyond the room for it', () => {
    for (let length = 8100; length < 8220; length++) expectSealed([['drop', 1, 'n'.repeat(length)]]);
    for (let length = 2700; length < 2760; length++) expectSealed([Array(length).fill(10)]);
    expectSealed([['drop', 1, 'short']]);
  });

  it('has no checksum in a journal without them', () => {
    const record = [['drop', 1, 'name']];
    line.encode(record, 5);
    line.encode(record, undefined);
    expect({ text: line.text, sum: line.sum, length: line.length }).toEqual({
      text: plainLine(record),
      sum: 0,
      length: plainLine(record).length,
    });
  });
});

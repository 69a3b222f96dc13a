import { describe, expect, it } from 'vitest';
import { applied, findEdit } from '../../../lib/text-tools/find-edit.ts';
import { LineEnds } from '../../../lib/text-tools/line-ends.ts';

const applyEdit = (text: string, from: string, to: string) => applied(text, findEdit(text, from, to));

describe('edits, as @modelcontextprotocol/server-filesystem 2026.8.31', () => {
  it.each([
    ['replaces the first match', 'a b a', 'a', '$&', '$& b a'],
    [
      'tolerates another indentation, which it keeps',
      '  if (x) {\n    y();\n  }\n',
      'if (x) {\n  y();',
      'if (z) {\n  w();',
      '  if (z) {\n  w();\n  }\n',
    ],
    ['shifts further lines', '\tfoo\n\tbar\n', '  foo\n  bar', '  foo\n    baz', '\tfoo\n\t  baz\n'],
    ['takes several lines exactly', 'a\nb\nc\n', 'a\nb\n', 'x\n', 'x\nc\n'],
  ])('%s', (_, text, from, to, expected) => {
    expect(applyEdit(text, from, to)).toBe(expected);
  });

  it('refuses a text that is not there', () => {
    expect(() => applyEdit('a\n', 'b', 'c')).toThrow('Could not find exact match for edit:\nb');
    expect(() => applyEdit('a\n', '', 'c')).toThrow('oldText must not be empty');
    expect(() => applyEdit('a\n\n\n', ' \n ', 'c')).toThrow('Could not find exact match');
  });
});

describe('line ends', () => {
  it.each([
    ['stay in a file of both', 'a\r\nb\nc\r\n', 'b\n', 'x\ny\n', 'a\r\nx\ny\nc\r\n'],
    ['stay where lines are removed', 'a\nb\r\nc\n', 'b\n', '', 'a\nc\n'],
    ['are those of the lines beside', 'a\r\nb', 'b', 'x\ny', 'a\r\nx\r\ny'],
    ['are LF in a file without one', 'a', 'a', 'x\ny', 'x\ny'],
    ['follow lines found by their indentation', '  a\r\n  b\r\nc\n', 'a\nb', 'x\ny', '  x\r\ny\r\nc\n'],
  ])('%s', (_, text, from, to, expected) => {
    const plain = text.replaceAll('\r\n', '\n');
    const ends = new LineEnds(text);
    const edit = findEdit(plain, from, to);
    ends.replace(plain, edit);
    expect(ends.restored(applied(plain, edit))).toBe(expected);
  });
});

import { describe, expect, it } from 'vitest';
import { applied, findEach, findEdit } from '../../../lib/text-tools/find-edit.ts';
import { LineEnds } from '../../../lib/text-tools/line-ends.ts';

const applyEdit = (text: string, from: string, to: string) => applied(text, [findEdit(text, from, to)]);

describe('edits, as @modelcontextprotocol/server-filesystem 2026.8.31', () => {
  it.each([
    ['replaces the only match', 'a b c', 'a', '$&', '$& b c'],
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
    expect(() => applyEdit('a\n', 'b', 'c')).toThrow(
      'oldText is not in the file; read it again, and copy the text:\nb',
    );
    expect(() => applyEdit('a\n', '', 'c')).toThrow('oldText must not be empty');
    expect(() => applyEdit('a\n\n\n', ' \n ', 'c')).toThrow('oldText is not in the file');
  });

  it('refuses a text that matches several times, with the count', () => {
    expect(() => applyEdit('a b a', 'a', 'c')).toThrow(
      /^oldText matches 2 times; name more .*, or use replace_all:\na$/,
    );
    expect(() => applyEdit('  x;\n\tx;\n', 'x; ', 'c')).toThrow('oldText matches 2 times');
  });

  it('replaces each match on request, and leaves the ends of the lines between', () => {
    const each = (text: string, from: string, to: string) => applied(text, findEach(text, from, to));
    expect(each('aaa b aa', 'aa', '$&')).toBe('$&a b $&');
    expect(() => each('a', 'b', '')).toThrow('oldText is not in the file');
    const text = 'x\r\na\nx\r\nb\n';
    const plain = text.replaceAll('\r\n', '\n');
    const ends = new LineEnds(text);
    const edits = findEach(plain, 'x', 'y\nz');
    ends.replace(plain, edits);
    expect(ends.restored(applied(plain, edits))).toBe('y\r\nz\r\na\ny\nz\r\nb\n');
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
    const edit = [findEdit(plain, from, to)];
    ends.replace(plain, edit);
    expect(ends.restored(applied(plain, edit))).toBe(expected);
  });
});

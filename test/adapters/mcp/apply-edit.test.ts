import { describe, expect, it } from 'vitest';
import { applyEdit } from '../../../adapters/mcp/tools/apply-edit.ts';

describe('applyEdit, as @modelcontextprotocol/server-filesystem 2026.8.31', () => {
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

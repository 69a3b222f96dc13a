import { describe, expect, it } from 'vitest';
import { fromLatin1, fromText } from '../../../lib/byte-string.ts';
import { compileRules } from '../../../lib/permissions/index.ts';
import { directory, file, glob, matches } from './rules.ts';

describe('a glob', () => {
  it.each([
    ['docs/a', 'docs/a', true],
    ['/docs/a', 'docs/a', true],
    ['docs/a', '/docs/a', true],
    ['*.md', 'a.md', true],
    ['*.md', 'docs/a.md', false],
    ['*.md', '.md', true],
    ['*', '.hidden', true],
    ['?env', '.env', true],
    ['[.]env', '.env', true],
    ['**/*.md', 'a.md', true],
    ['**/*.md', 'x/y/a.md', true],
    ['**/*.md', 'x/a.md/b', false],
    ['/docs/**', 'docs', true],
    ['/docs/**', 'docs/a/b/c', true],
    ['/docs/**', 'docs2', false],
    ['**', '', true],
    ['/**', 'a/.b/c', true],
    ['a/**/z', 'a/z', true],
    ['a/**/z', 'a/b/c/z', true],
    ['a/**/z', 'a/b/c', false],
    ['**/a/**', 'x/a/y', true],
    ['**/**/a', 'a', true],
    ['*', 'a/b', false],
    ['*/*', 'a', false],
    ['*/*', 'a/b', true],
    ['a?c', 'a/c', false],
    ['a[!b]c', 'a/c', false],
    ['{src,lib}/*.ts', 'lib/a.ts', true],
    ['{src,lib}/*.ts', 'test/a.ts', false],
    ['a{b,c{d,e}}f', 'acef', true],
    ['a{b,c{d,e}}f', 'acf', false],
    ['*.{js,ts}{,x}', 'a.tsx', true],
    ['*.{js,ts}{,x}', 'a.js', true],
    ['a,b', 'a,b', true],
    ['[a-cx]1', 'b1', true],
    ['[a-cx]1', 'x1', true],
    ['[a-cx]1', 'd1', false],
    ['[!a-c]1', 'd1', true],
    ['[^a-c]1', 'a1', false],
    ['[]a]', ']', true],
    ['[a-]', '-', true],
    ['[!]a]', 'b', true],
    ['[\\]]', ']', true],
    ['a]', 'a]', true],
    ['\\*.md', '*.md', true],
    ['\\*.md', 'a.md', false],
    ['\\{a,b\\}', '{a,b}', true],
    ['\\[id\\].tsx', '[id].tsx', true],
    ['a\\\\b', 'a\\b', true],
    ['*a*a*b', 'xaxaxb', true],
    ['*a*a*b', 'xaxb', false],
    ['ab*ba', 'aba', false],
    ['ab*ba', 'abba', true],
    ['README', 'readme', false],
    ['line\nbreak*', 'line\nbreak.txt', true],
  ])('with the pattern %j matches the path %j: %s', (pattern, path, expected) => {
    expect(matches(glob(pattern, 'READ'), path)).toBe(expected);
  });

  it.each(['é', '日', '😀'])('matches %s as one character with ? and […]', (character) => {
    expect(matches(glob('a?b', 'READ'), `a${character}b`)).toBe(true);
    expect(matches(glob('a??b', 'READ'), `a${character}b`)).toBe(false);
    expect(matches(glob(`a[${character}]b`, 'READ'), `a${character}b`)).toBe(true);
    expect(matches(glob('a[!x]b', 'READ'), `a${character}b`)).toBe(true);
    expect(matches(glob('a[\u00a0-\u{1ffff}]b', 'READ'), `a${character}b`)).toBe(true);
  });

  it('matches bytes in a name that is not UTF-8, and none of them as a character', () => {
    const matchesName = (pattern: string, name: string) =>
      compileRules([glob(pattern, 'READ')]).matching(fromLatin1(name)).length === 1;
    expect(matchesName('a?b', 'a\xe9b')).toBe(true);
    expect(matchesName('a[é]b', 'a\xe9b')).toBe(false);
    expect(matchesName('a[\u0080-\u00ff]b', 'a\xe9b')).toBe(false);
    expect(matchesName('a[!x]b', 'a\xe9b')).toBe(true);
    expect(matchesName('a*b', 'a\xff\xfe\xfdb')).toBe(true);
    expect(matchesName('é?', `${fromText('é')}\xff`)).toBe(true);
    expect(matchesName('*é*', `\xff${fromText('é')}\xff`)).toBe(true);
  });

  it('matches a byte order mark as a character', () => {
    expect(matches(glob('?a', 'READ'), '\ufeffa')).toBe(true);
    expect(matches(glob('a', 'READ'), '\ufeffa')).toBe(false);
  });

  it('distinguishes composed and decomposed letters', () => {
    expect(matches(glob('caf\u00e9', 'READ'), 'cafe\u0301')).toBe(false);
  });
});

describe('a DIRECTORY rule', () => {
  it.each([
    ['docs', 'docs', true],
    ['/docs/', 'docs/a/b', true],
    ['docs', 'docs2', false],
    ['docs', 'x/docs', false],
    ['/', '', true],
    ['/', 'a/b', true],
    ['app/[slug]', 'app/[slug]/page.tsx', true],
    ['app/[slug]', 'app/s/page.tsx', false],
    ['a*', 'ab', false],
  ])('with the pattern %j matches the path %j: %s', (pattern, path, expected) => {
    expect(matches(directory(pattern, 'READ'), path)).toBe(expected);
  });
});

describe('a FILE rule', () => {
  it.each([
    ['docs/a.md', 'docs/a.md', true],
    ['/docs/a.md', 'docs/a.md', true],
    ['docs', 'docs/a.md', false],
    ['docs/a.md', 'docs', false],
    ['*.md', 'a.md', false],
    ['*.md', '*.md', true],
    ['a\\b', 'a\\b', true],
  ])('with the pattern %j matches the path %j: %s', (pattern, path, expected) => {
    expect(matches(file(pattern, 'READ'), path)).toBe(expected);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalPrefix, isBelow, readingsOf } from '../../../../lib/network/policy/http-paths.ts';
import { canonicalName, canonicalPattern, matchesName } from '../../../../lib/network/policy/names.ts';

const nameOf = (text: string) => ({ problem: undefined, name: undefined, ...canonicalName(text) }).name;

describe('names', () => {
  it.each([
    ['API.GitHub.com', 'api.github.com'],
    ['api.github.com.', 'api.github.com'],
    ['Bücher.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['a.xn--strae-oqa.xn--ls8h', 'a.xn--strae-oqa.xn--ls8h'],
    ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
    ['_acme.example.org', '_acme.example.org'],
    ['localhost', 'localhost'],
  ])('%s is %s', (text, name) => expect(nameOf(text)).toBe(name));

  it.each([
    ...[
      '',
      '.',
      'a..b',
      '.a',
      'a.b..',
      '-a.b',
      'a-.b',
      'a b',
      'a\0.b',
      'a\n',
      'http://a.b',
      'a.b:443',
      'a.b/c',
      'u@a.b',
      'a%2eb',
    ],
    ...['10.0.0.1', '::1', '[::1]', '127.1', '0x7f.1', '2130706433', '1.2.3.4.5', '0177.0.0.1', '１２７.0.0.1', 'a.0x'],
    ...[
      `${'a'.repeat(64)}.b`,
      `${'a.'.repeat(127)}a`,
      'xn--a.b',
      'xn--a-.b',
      'xn--.b',
      '\u{ad}',
      '*.a',
      'a\u{200b}\u{2028}b',
    ],
  ])('%j is none', (text) => expect(nameOf(text)).toBeUndefined());

  it.each(['*', '*.', '**.a', 'a.*', '*a.b', 'a.*.b', '*.*.b', '*.10.0.0.1', '*..a'])('%j is no pattern', (text) =>
    expect(canonicalPattern(text)).toHaveProperty('problem'),
  );

  it('below a pattern end with its labels', () => {
    const label = fc.constantFrom('a', 'b', 'xa', 'example', 'org');
    const name = fc.array(label, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(name, name, (suffix, labels) => {
        const isBelowIt =
          labels.length > suffix.length && suffix.every((each, at) => labels.at(at - suffix.length) === each);
        expect(matchesName(`*.${suffix.join('.')}`, labels.join('.'))).toBe(isBelowIt);
        expect(matchesName(suffix.join('.'), labels.join('.'))).toBe(labels.join('.') === suffix.join('.'));
      }),
    );
  });
});

describe('paths of requests', () => {
  const isIn = (prefix: string, path: string) => readingsOf(path)?.every((each) => isBelow(prefix, each)) ?? false;

  it.each(['/repos/me', '/repos/me/', '//repos///me/x', '/repos/./me/x?y=/../..', '/x/../repos/me', '/repos/me/x;v=1'])(
    '%s is below /repos/me',
    (path) => expect(isIn('/repos/me', path)).toBe(true),
  );

  it.each([
    ...[
      '/',
      '/repos',
      '/repos/me2',
      '/repos/me/../you',
      '/repos/me/%2e%2e/you',
      '/repos/me/%2E%2e%2fyou',
      '/repos/me/..;/you',
    ],
    ...['/repos/me/..\\you', '/repos/me/..%5cyou', '/repos/me/%252e%252e/you', '/repos/me/%25252e%25252e/you'],
    ...['/repos/me/%2525252525252e/x', '/repos/me%2f..%2fyou', '/Repos/me', '/repos/%6de'],
    ...['/repos/me#/../you', '/repos/me#'],
  ])('%s is not', (path) => expect(isIn('/repos/me', path)).toBe(false));

  it.each([
    ['/', '/'],
    ['/a/', '/a'],
    ['//a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/%61', '/a'],
  ])('the prefix %s is %s', (text, prefix) => expect(canonicalPrefix(text)).toBe(prefix));

  it.each(['a', '', '/a?b', '/a#b', '/a\\b', '/a;b', '/a b', '/%2561', '/a\0'])('%j is no prefix', (text) =>
    expect(canonicalPrefix(text)).toBeUndefined(),
  );
});

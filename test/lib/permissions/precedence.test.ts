import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { compileRules, explain } from '../../../lib/permissions/index.ts';
import { decided, directory, file, glob } from './rules.ts';

describe('the rule that wins', () => {
  it.each([
    ['NONE if no rule matches', [glob('/docs/**', 'WRITE')], 'src/a', 'NONE'],
    ['NONE if there are no rules', [], '', 'NONE'],
    ['the rule with the highest priority', [glob('**', 'WRITE', 2), file('a', 'NONE', 1)], 'a', 'WRITE'],
    [
      'a rule with priority 0 over one with a negative priority',
      [glob('**', 'READ'), file('a', 'WRITE', -1)],
      'a',
      'READ',
    ],
    ['FILE over DIRECTORY', [directory('a', 'NONE'), file('a', 'READ')], 'a', 'READ'],
    ['DIRECTORY over GLOB', [glob('a/b', 'NONE'), directory('a', 'READ')], 'a/b', 'READ'],
    ['FILE over GLOB', [glob('a/*', 'NONE'), file('a/b', 'READ')], 'a/b', 'READ'],
    ['the glob without wildcards', [glob('a/b?', 'NONE'), glob('a/bc', 'READ')], 'a/bc', 'READ'],
    ['the glob with the longer literal prefix', [glob('**', 'NONE'), glob('docs/**', 'READ')], 'docs/a', 'READ'],
    ['the glob with the longer literal prefix within a name', [glob('a*', 'NONE'), glob('ab*', 'READ')], 'abc', 'READ'],
    [
      'the glob whose literal prefix ends later, at a brace',
      [glob('ab{c,d}', 'READ'), glob('a*', 'NONE')],
      'abc',
      'READ',
    ],
    ['the DIRECTORY rule of the deeper directory', [directory('a', 'NONE'), directory('a/b', 'READ')], 'a/b/c', 'READ'],
    [
      'the more restrictive of two globs whose prefixes differ in escapes only',
      [glob('\\[a*', 'WRITE'), glob('[[]a*', 'READ')],
      '[ab',
      'WRITE',
    ],
    ['the glob whose literal prefix has more bytes', [glob('é*', 'READ'), glob('?b*', 'NONE')], 'éb', 'READ'],
    [
      'the more restrictive of two equally specific rules',
      [glob('**/*.md', 'WRITE'), glob('**/a*', 'READ')],
      'a.md',
      'READ',
    ],
    ['the more restrictive of two rules for the same path', [file('a', 'WRITE'), file('/a', 'VIEW')], 'a', 'VIEW'],
  ])('is %s', (_, rules, path, expected) => {
    expect(decided(rules, path)).toBe(expected);
    expect(decided(rules.toReversed(), path)).toBe(expected);
  });
});

describe('compiled rules', () => {
  it('do not change when their source objects change', () => {
    const rule = file('a', 'NONE');
    const compiled = compileRules([rule]);
    rule.permission = 'PERMISSION_WRITE';
    expect(compiled.decide(fromText('a'))).toBe(0);
  });
});

describe('an explanation', () => {
  const rules = [
    glob('**', 'READ'),
    directory('secrets', 'NONE'),
    glob('**/*.md', 'WRITE'),
    file('secrets/a.md', 'VIEW', 5),
  ];
  const compiled = compileRules(rules);

  it('names the winner, the beaten rules in order and the reason, also for a path that does not exist', () => {
    const { permission, winner, beaten, reason } = explain(compiled, fromText('secrets/a.md'));
    expect(permission).toBe('PERMISSION_VIEW');
    expect(winner).toEqual({ index: 3, rule: rules[3] });
    expect(beaten.map(({ index }) => index)).toEqual([1, 0, 2]);
    expect(reason).toContain('permissions[3] (file "secrets/a.md", view, priority 5)');
    expect(reason).toContain('higher priority');
  });

  it('states that no rule matches', () => {
    expect(explain(compileRules([]), fromText('x'))).toEqual({
      permission: 'PERMISSION_NONE',
      level: 0,
      winner: undefined,
      beaten: [],
      passThrough: false,
      reason: 'No rule matches, so the permission is none.',
    });
  });

  it('reports a directory that is only traversable', () => {
    const { permission, passThrough, reason } = explain(compileRules([file('a/b/c', 'READ')]), fromText('a/b'));
    expect([permission, passThrough]).toEqual(['PERMISSION_NONE', true]);
    expect(reason).toContain('passed through');
  });

  it('states that equal rules are ordered by their index', () => {
    const { winner, reason } = explain(compileRules([file('a', 'READ'), file('a', 'READ')]), fromText('a'));
    expect(winner?.index).toBe(0);
    expect(reason).toContain('comes first');
  });

  it.each([
    [[file('a', 'READ'), directory('a', 'READ')], 'stronger type'],
    [[glob('a', 'READ'), glob('a*', 'READ')], 'one exact path'],
    [[glob('a*', 'READ'), glob('*', 'READ')], 'longer literal prefix'],
    [[glob('a*', 'READ'), glob('a?', 'VIEW')], 'more restrictive'],
  ])('names the deciding criterion: %#', (given, why) => {
    expect(explain(compileRules(given), fromText(given[1]?.pattern === 'a?' ? 'ab' : 'a')).reason).toContain(why);
  });
});

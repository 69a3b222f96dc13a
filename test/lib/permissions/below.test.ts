import { describe, expect, it } from 'vitest';
import { compileRules } from '../../../lib/permissions/index.ts';
import { directory, file, glob } from './rules.ts';

describe('what can be below a path', () => {
  it.each([
    ['a file rule opens the way to it', [file('a/b/c', 'READ')], 'a', true],
    ['and nothing beside the way', [file('a/b/c', 'READ')], 'x', false],
    ['the path itself is not below itself', [file('a/b', 'READ')], 'a/b', false],
    [
      'a hidden directory under a better rule stays hidden',
      [glob('**/*.md', 'READ'), glob('/secrets/**', 'NONE', 1)],
      'secrets',
      false,
    ],
    ['so does what lies deeper in it', [glob('**/*.md', 'READ'), glob('/secrets/**', 'NONE', 1)], 'secrets/x/y', false],
    ['a stronger type covers too', [glob('**/*.md', 'READ'), directory('secrets', 'NONE')], 'secrets', false],
    ['a weaker cover does not', [glob('**/*.md', 'READ', 1), glob('/secrets/**', 'NONE')], 'secrets', true],
    [
      'an exception in a hidden directory opens it',
      [directory('secrets', 'NONE'), file('secrets/pub/a', 'VIEW')],
      'secrets',
      true,
    ],
    ['and the way to it', [directory('secrets', 'NONE'), file('secrets/pub/a', 'VIEW')], 'secrets/pub', true],
    ['but not its siblings', [directory('secrets', 'NONE'), file('secrets/pub/a', 'VIEW')], 'secrets/key', false],
    ['a cover between here and there counts', [glob('a/b/*.md', 'READ'), directory('a', 'NONE')], '', false],
    [
      'a hidden name everywhere hides the only way',
      [directory('data/private', 'READ'), glob('**/private/**', 'NONE', 1)],
      'data',
      false,
    ],
    ['and no other way', [directory('data', 'READ'), glob('**/private/**', 'NONE', 1)], 'data', true],
    ['a cover of every child', [directory('a', 'READ'), glob('a/*/**', 'NONE', 1)], 'a', false],
    ['a pattern in doubt', [glob('a/[x]/b', 'READ'), glob('a/x/**', 'NONE', 1)], 'a', true],
    ['only NONE rules: nothing', [glob('**', 'NONE')], '', false],
  ])('visible: %s', (_, rules, path, expected) => {
    expect(compileRules(rules).state(path).visibleBelow).toBe(expected);
  });

  it.each([
    ['WRITE deeper down', [glob('**', 'READ'), glob('out/**', 'WRITE')], '', true],
    ['READ is not enough', [glob('**', 'READ')], '', false],
    ['a read-only directory under a better rule', [glob('**/*.o', 'WRITE'), directory('src', 'READ')], 'src', false],
  ])('writable: %s', (_, rules, path, expected) => {
    expect(compileRules(rules).state(path).writableBelow).toBe(expected);
  });

  it.each([
    ['no rule at all', [], '', 0],
    ['one rule for everything', [glob('**', 'WRITE')], 'a/b', 3],
    ['a weaker exception does not count', [glob('**', 'WRITE', 1), file('a/b', 'NONE')], 'a', 3],
    ['a stronger exception does', [glob('**', 'WRITE'), file('a/b', 'NONE')], 'a', undefined],
    ['but not beside its way', [glob('**', 'WRITE'), file('a/b', 'NONE')], 'x', 3],
    ['exceptions of the same level do not count', [glob('**', 'READ'), glob('**/*.md', 'READ', 3)], '', 2],
    ['paths that no rule matches are NONE', [glob('a/*', 'WRITE')], 'a', undefined],
    ['below the last component of a pattern', [glob('a/*', 'WRITE')], 'a/b', 0],
  ])('uniform: %s', (_, rules, path, expected) => {
    expect(compileRules(rules).state(path).uniformBelow).toBe(expected);
  });
});

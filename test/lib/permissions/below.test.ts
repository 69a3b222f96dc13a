import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { compileRules } from '../../../lib/permissions/index.ts';
import { directory, file, glob } from './rules.ts';

describe('the level of paths below a path', () => {
  it.each([
    ['a FILE rule makes its parent directories traversable', [file('a/b/c', 'READ')], 'a', true],
    ['a FILE rule does not make other directories traversable', [file('a/b/c', 'READ')], 'x', false],
    ['the path itself does not count as below itself', [file('a/b', 'READ')], 'a/b', false],
    [
      'a hidden directory below a weaker grant stays hidden',
      [glob('**/*.md', 'READ'), glob('/secrets/**', 'NONE', 1)],
      'secrets',
      false,
    ],
    [
      'a path deeper in a hidden directory stays hidden',
      [glob('**/*.md', 'READ'), glob('/secrets/**', 'NONE', 1)],
      'secrets/x/y',
      false,
    ],
    [
      'a NONE rule of a stronger type hides the paths below',
      [glob('**/*.md', 'READ'), directory('secrets', 'NONE')],
      'secrets',
      false,
    ],
    [
      'a weaker NONE rule does not hide the paths below',
      [glob('**/*.md', 'READ', 1), glob('/secrets/**', 'NONE')],
      'secrets',
      true,
    ],
    [
      'an exception in a hidden directory makes the directory traversable',
      [directory('secrets', 'NONE'), file('secrets/pub/a', 'VIEW')],
      'secrets',
      true,
    ],
    [
      'an exception in a hidden directory makes its parent directories traversable',
      [directory('secrets', 'NONE'), file('secrets/pub/a', 'VIEW')],
      'secrets/pub',
      true,
    ],
    [
      'an exception in a hidden directory does not make its siblings traversable',
      [directory('secrets', 'NONE'), file('secrets/pub/a', 'VIEW')],
      'secrets/key',
      false,
    ],
    [
      'a NONE rule on an intermediate directory hides the paths below',
      [glob('a/b/*.md', 'READ'), directory('a', 'NONE')],
      '',
      false,
    ],
    [
      'a NONE rule for a name hides the only visible path below',
      [directory('data/private', 'READ'), glob('**/private/**', 'NONE', 1)],
      'data',
      false,
    ],
    [
      'a NONE rule for a name does not hide other paths below',
      [directory('data', 'READ'), glob('**/private/**', 'NONE', 1)],
      'data',
      true,
    ],
    [
      'NONE rules for every child hide the paths below',
      [directory('a', 'READ'), glob('a/*/**', 'NONE', 1)],
      'a',
      false,
    ],
    ['a pattern that may match counts as a match', [glob('a/[x]/b', 'READ'), glob('a/x/**', 'NONE', 1)], 'a', true],
    ['with NONE rules only nothing is visible', [glob('**', 'NONE')], '', false],
  ])('whether a path below is visible: %s', (_, rules, path, expected) => {
    expect(compileRules(rules).state(fromText(path)).visibleBelow).toBe(expected);
  });

  it.each([
    ['a WRITE rule on a deeper path counts', [glob('**', 'READ'), glob('out/**', 'WRITE')], '', true],
    ['a READ rule does not count', [glob('**', 'READ')], '', false],
    [
      'a stronger READ rule on a directory covers a WRITE rule',
      [glob('**/*.o', 'WRITE'), directory('src', 'READ')],
      'src',
      false,
    ],
  ])('whether a path below is writable: %s', (_, rules, path, expected) => {
    expect(compileRules(rules).state(fromText(path)).writableBelow).toBe(expected);
  });

  it.each([
    ['no rule grants NONE everywhere', [], '', 0],
    ['one rule for all paths grants its level', [glob('**', 'WRITE')], 'a/b', 5],
    ['a weaker exception does not count', [glob('**', 'WRITE', 1), file('a/b', 'NONE')], 'a', 5],
    ['a stronger exception counts', [glob('**', 'WRITE'), file('a/b', 'NONE')], 'a', undefined],
    ['a stronger exception elsewhere does not count', [glob('**', 'WRITE'), file('a/b', 'NONE')], 'x', 5],
    ['exceptions of the same level do not count', [glob('**', 'READ'), glob('**/*.md', 'READ', 3)], '', 4],
    ['paths without a matching rule count as NONE', [glob('a/*', 'WRITE')], 'a', undefined],
    ['paths below the last component of a pattern are NONE', [glob('a/*', 'WRITE')], 'a/b', 0],
  ])('the uniform level at and below a path: %s', (_, rules, path, expected) => {
    expect(compileRules(rules).state(fromText(path)).uniformBelow).toBe(expected);
  });
});

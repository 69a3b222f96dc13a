import { describe, expect, it } from 'vitest';
import type { PermissionRule } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { compileRules } from '../../../lib/permissions/index.ts';
import { directory, file, glob } from './rules.ts';

function refusal(rules: PermissionRule[]): string {
  try {
    compileRules(rules);
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('a pattern that cannot be parsed', () => {
  it.each([
    [glob('', 'READ'), 'is empty'],
    [glob('/', 'READ'), 'names only the root'],
    [glob('a\0b', 'READ'), 'NUL'],
    [glob('a\ud800', 'READ'), 'lone surrogate'],
    [glob('../x', 'READ'), '".."'],
    [glob('a/../x', 'READ'), '".."'],
    [glob('a/{..,b}/x', 'READ'), '".."'],
    [glob('./x', 'READ'), '"."'],
    [glob('a//x', 'READ'), 'doubled slash'],
    [glob('//x', 'READ'), 'doubled slash'],
    [glob('docs/', 'READ'), 'ends in a slash'],
    [glob('[ab', 'READ'), 'unclosed "["'],
    [glob('[', 'READ'), 'unclosed "["'],
    [glob('[]', 'READ'), 'unclosed "["'],
    [glob('[!]', 'READ'), 'unclosed "["'],
    [glob('[a/b]', 'READ'), 'slash inside […]'],
    [glob('[z-a]', 'READ'), 'backwards'],
    [glob('[[:alpha:]]', 'READ'), 'not supported'],
    [glob('{a,b', 'READ'), 'unclosed "{"'],
    [glob('{a,b/c}', 'READ'), 'slash inside {…}'],
    [glob('{a}', 'READ'), 'without a comma'],
    [glob('{1..9}', 'READ'), 'without a comma'],
    [glob('{}', 'READ'), 'without a comma'],
    [glob('{,}', 'READ'), 'matches no name'],
    [glob('a}', 'READ'), '"}" without "{"'],
    [glob('a**', 'READ'), 'must stand alone'],
    [glob('**a', 'READ'), 'must stand alone'],
    [glob('a/***', 'READ'), 'must stand alone'],
    [glob('{a,**}', 'READ'), 'must stand alone'],
    [glob('a\\', 'READ'), 'ends in a backslash'],
    [glob('docs\\secrets', 'READ'), 'backslash'],
    [glob('a\\/b', 'READ'), 'backslash'],
    [glob('a'.repeat(256), 'READ'), 'longer than 255 bytes'],
    [glob(`${'*/'.repeat(2048)}*`, 'READ'), 'longer than 4096 bytes'],
    [glob('{a,b}'.repeat(9), 'READ'), 'more than 256 alternatives'],
    [glob('{'.repeat(2000), 'READ'), 'nests'],
    [glob(`${'**/a/'.repeat(17)}a`, 'READ'), 'more than 16'],
    [file('', 'READ'), 'is empty'],
    [file('/', 'READ'), 'names a directory, but the type is file'],
    [file('docs/', 'READ'), 'names a directory, but the type is file'],
    [file('a/../b', 'READ'), '".."'],
    [directory('..', 'READ'), '".."'],
    [directory('a//b', 'READ'), 'doubled slash'],
    [directory('//', 'READ'), 'doubled slash'],
  ])('%j is refused because it %s', (rule, why) => {
    const message = refusal([glob('ok', 'READ'), rule]);
    expect(message).toContain('INVALID_ARGUMENT: permissions[1].pattern ');
    expect(message).toContain(why);
    expect(message.length).toBeLessThan(400);
  });

  it('is named even if only all patterns together exceed a limit', () => {
    const rules = Array.from({ length: 200 }, (_, i) =>
      glob(`{a,b}${'{a,b}'.repeat(7)}${'?'.repeat(200)}${i}`, 'READ'),
    );
    expect(refusal(rules)).toMatch(/^INVALID_ARGUMENT: permissions\[\d+\]\.pattern .*more than can be held/);
  });
});

describe('a rule out of range', () => {
  const ok = glob('a', 'READ');
  it.each([
    [{ ...ok, priority: 0.5 }, 'priority'],
    [{ ...ok, priority: 2 ** 31 }, 'priority'],
    [{ ...ok, priority: Number.NaN }, 'priority'],
    [{ ...ok, permission: 'PERMISSION_ALL' } as unknown as PermissionRule, 'permission'],
    [{ ...ok, type: 'GLOB' } as unknown as PermissionRule, 'type'],
    [{ ...ok, view: 'hidden' }, 'view'],
    [{ ...glob('a', 'WRITE'), view: 'redacted' }, 'view'],
    [{ ...glob('a', 'NONE'), view: 'redacted' }, 'view'],
    [{ ...ok, redactor: 'json' }, 'redactor'],
    [{ ...ok, view: 'redacted', redactor: 'toml' }, 'redactor'],
  ])('%j is refused with an error that names %s', (rule, field) => {
    expect(refusal([rule])).toContain(`INVALID_ARGUMENT: permissions[0].${field} `);
  });

  it('is not reported for the extreme priorities of int32', () => {
    expect(refusal([glob('a', 'READ', 2 ** 31 - 1), glob('a', 'READ', -(2 ** 31))])).toBe('accepted');
  });

  it('is reported for more than 100 000 rules', () => {
    expect(refusal(Array.from({ length: 100_001 }, () => ok))).toContain('at most 100000');
  });
});

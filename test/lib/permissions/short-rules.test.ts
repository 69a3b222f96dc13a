import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import type { PermissionRules } from '../../../lib/contract/messages.ts';
import { complete } from '../../../lib/fuse/connection/steps.ts';
import { compileRules, expandingRules, findPreset, permissionOf } from '../../../lib/permissions/index.ts';

const EMPTY: PermissionRules = { write: [], read: [], none: [], scratch: [], view: [], redacted: [], shown: [] };

const expand = (lists: Partial<PermissionRules>) => complete(expandingRules({ ...EMPTY, ...lists }));

/** The level at a path, with `scratch` for WRITE that is scratch. */
function levelAt(lists: Partial<PermissionRules>, path: string, preset?: string): string {
  const rules = compileRules([...(preset ? findPreset(preset)!.permissions : []), ...expand(lists)]);
  const { level, scratch } = rules.state(fromText(path));
  return scratch ? 'scratch' : permissionOf(level).slice('PERMISSION_'.length);
}

describe('the short form of rules', () => {
  it('stands for the same rules each time', () => {
    expect(
      expand({ write: ['src/**'], read: ['**'], none: ['.env*'], scratch: ['.cache'], redacted: ['*.json'] }),
    ).toEqual([
      { pattern: '.env*', permission: 'PERMISSION_NONE', type: 'PATTERN_GLOB', priority: 40 },
      { pattern: '*.json', permission: 'PERMISSION_READ', type: 'PATTERN_GLOB', priority: 25, view: 'redacted' },
      { pattern: '**', permission: 'PERMISSION_READ', type: 'PATTERN_GLOB', priority: -50 },
      { pattern: '.cache', permission: 'PERMISSION_WRITE', type: 'PATTERN_DIRECTORY', priority: 10, scratch: true },
      { pattern: 'src/**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: -10 },
    ]);
  });

  it.each([
    ['src/a', 'WRITE'],
    ['src', 'WRITE'],
    ['src/vendor/a', 'READ'],
    ['src/lib/__pycache__/a', 'scratch'],
    ['src/vendor/__pycache__/a', 'READ'],
    ['src/.env', 'NONE'],
    ['README.md', 'READ'],
    ['a/b.bin', 'VIEW'],
    ['a/b', 'READ'],
  ])('decides by the strictest list: %s is %s', (path, level) => {
    const lists = {
      write: ['src'],
      read: ['**', '**/vendor/**'],
      none: ['**/.env*'],
      scratch: ['**/__pycache__/**'],
      view: ['**/*.bin'],
    };
    expect(levelAt(lists, path)).toBe(level);
  });

  it.each([
    ['src/a', 'WRITE'],
    ['src/.env', 'READ'],
    ['src/__pycache__/a', 'scratch'],
    ['docs/dist/a', 'READ'],
    ['docs/a', 'READ'],
    ['a', 'READ'],
  ])('adds to a preset: %s is %s', (path, level) => {
    expect(levelAt({ write: ['src/**'], read: ['docs'] }, path, 'agent-safe')).toBe(level);
  });

  it.each([
    [
      { write: ['a/**'], read: ['a/**'] },
      'rules.write[0] "a/**" is also in rules.read; a pattern can be in one list only',
    ],
    [{ write: ['a'], read: ['a/**'] }, 'rules.write[0] "a" is also in rules.read'],
    [{ write: ['**/dist/**'], scratch: ['**/dist/**'] }, 'rules.write[0] "**/dist/**" is also in rules.scratch'],
    [{ write: ['**'], read: ['/**'] }, 'rules.write[0] "**" is also in rules.read'],
    [
      { write: ['x', 'src/gen/**'], read: ['src/**'] },
      'rules.write[1] "src/gen/**" can never decide: rules.read[0] ("src/**")',
    ],
    [{ read: ['a/.env*'], none: ['**/.env*'] }, 'rules.read[0] "a/.env*" can never decide: rules.none[0] ("**/.env*")'],
    [{ scratch: ['src/main.ts'], view: ['*/*.ts/**'] }, 'rules.scratch[0] "src/main.ts" can never decide'],
    [{ view: ['a//b'] }, 'rules.view[0] "a//b" has an empty path component'],
    [{ none: ['[a'] }, 'rules.none[0] "[a" has an unclosed "["'],
  ])('refuses contradictions and bad patterns: %j', (lists, message) => {
    expect(() => expand(lists)).toThrow(message);
  });

  it('never refuses a pattern that would decide somewhere', () => {
    const pattern = fc.constantFrom('a', 'a/*', 'a/**', '**/a', '*', 'b*', 'a/b', '**/b/**', '{a,b}/c', '?');
    const lists = fc.record({
      none: fc.uniqueArray(pattern, { maxLength: 3 }),
      read: fc.uniqueArray(pattern, { maxLength: 3 }),
      write: fc.uniqueArray(pattern, { maxLength: 3 }),
    });
    const names = ['a', 'b', 'c', 'bc'];
    const paths = names.flatMap((one) => [
      one,
      ...names.flatMap((two) => [`${one}/${two}`, ...names.map((three) => `${one}/${two}/${three}`)]),
    ]);
    fc.assert(
      fc.property(lists, (given) => {
        const refused = (() => {
          try {
            expand(given);
          } catch (error) {
            return /^rules\.(\w+)\[(\d+)\] .* can never decide/.exec((error as Error).message);
          }
        })();
        if (!refused) return;
        const [list, index] = [refused[1] as 'read' | 'write', Number(refused[2])];
        const alone = { ...given, [list]: [given[list][index]!] };
        const stricter = list === 'read' ? { none: given.none } : { none: given.none, read: given.read };
        const of = (lists: Partial<PermissionRules>) => {
          const rules = Object.entries(lists).flatMap(([name, patterns]) => expand({ [name]: patterns }));
          return compileRules(rules);
        };
        const [own, above] = [of({ [list]: alone[list] }), of(stricter)];
        for (const path of paths.map(fromText))
          if (own.matching(path).length > 0) expect(above.matching(path)).not.toEqual([]);
      }),
    );
  });
});

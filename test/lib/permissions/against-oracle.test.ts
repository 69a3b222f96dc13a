import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import type { PermissionRule } from '../../../lib/contract/messages.ts';
import { PatternType, Permission } from '../../../lib/contract/messages.ts';
import { compileRules } from '../../../lib/permissions/index.ts';
import { levelOfRule, slowLevel } from './oracle.ts';

const NAMES = ['a', 'b', 'ab', 'ba', '.git'];
/** Returns every path of up to three of the names. */
const PATHS = ['', ...deeper(['']), ...deeper(deeper([''])), ...deeper(deeper(deeper([''])))];

function deeper(paths: string[]): string[] {
  return paths.flatMap((path) => NAMES.map((name) => (path === '' ? name : `${path}/${name}`)));
}

const name = fc.constantFrom(...NAMES);
const glob = fc.constantFrom(
  '*',
  '?',
  'a*',
  '*a',
  '*b*',
  '[ab]',
  '[!a]b',
  '{a,b}',
  '{a,*b}',
  'a{,b}',
  '{{a,b}b,ba}',
  '?*',
);
const joined = (component: fc.Arbitrary<string>) =>
  fc.tuple(fc.boolean(), fc.array(component, { minLength: 1, maxLength: 4 })).map(([slash, names]) => {
    return (slash ? '/' : '') + names.join('/');
  });
const typed = fc.oneof(
  fc.record({ type: fc.constant(PatternType[2]), pattern: joined(name) }),
  fc.record({ type: fc.constant(PatternType[1]), pattern: fc.oneof(joined(name), fc.constant('/')) }),
  fc.record({
    type: fc.constant(PatternType[0]),
    pattern: joined(fc.oneof(name, glob, fc.constant('**'))),
  }),
);
const rule: fc.Arbitrary<PermissionRule> = fc
  .tuple(typed, fc.constantFrom(...Permission), fc.integer({ min: -1, max: 1 }), fc.boolean(), fc.nat(2))
  .map(([pattern, permission, priority, scratch, redacted]) => ({
    ...pattern,
    permission,
    priority,
    scratch: scratch && permission === 'PERMISSION_WRITE',
    view: redacted > 0 && permission === 'PERMISSION_READ' ? 'redacted' : '',
    on_write: redacted > 1 && permission === 'PERMISSION_READ' ? 'merge' : '',
  }));
const rules = fc.array(rule, { maxLength: 8 });

describe('compiled rules', () => {
  it('grant every path the same level as the oracle', () => {
    fc.assert(
      fc.property(rules, (given) => {
        const compiled = compileRules(given);
        for (const path of PATHS)
          expect([path, compiled.decide(fromText(path))]).toEqual([path, slowLevel(given, path)]);
      }),
      { numRuns: 500 },
    );
  });

  it('never underestimate the levels below a path, and report one level only if there is only one', () => {
    fc.assert(
      fc.property(rules, (given) => {
        const compiled = compileRules(given);
        const levels = new Map(PATHS.map((path) => [path, slowLevel(given, path)]));
        for (const path of PATHS) {
          const below = PATHS.filter((other) => other !== path && (path === '' || other.startsWith(`${path}/`)));
          const found = new Set(below.map((other) => levels.get(other)));
          const { visibleBelow, writableBelow, uniformBelow } = compiled.state(fromText(path));
          if (!visibleBelow) expect([path, Math.max(0, ...(found as Set<number>))]).toEqual([path, 0]);
          if (!writableBelow) expect([path, found.has(5) || found.has(3)]).toEqual([path, false]);
          if (uniformBelow !== undefined && found.size > 0) expect([path, ...found]).toEqual([path, uniformBelow]);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('report exactly whether a path below is visible or writable, for literal names, * and **', () => {
    const plain = fc.constantFrom('a', 'b', '*', '**');
    const pattern = fc.array(plain, { minLength: 1, maxLength: 2 }).map((names) => names.join('/'));
    const plainRule = fc
      .tuple(pattern, fc.constantFrom(...Permission), fc.integer({ min: 0, max: 3 }))
      .map(([pattern, permission, priority]) => ({ pattern, permission, priority, type: PatternType[0] }));
    // No rule distinguishes more path components than its pattern has.
    const names = ['a', 'b', 'other'];
    const below = (path: string, depth: number): string[] =>
      names.flatMap((name) => [`${path}${name}`, ...(depth > 1 ? below(`${path}${name}/`, depth - 1) : [])]);
    fc.assert(
      fc.property(fc.array(plainRule, { maxLength: 6 }), fc.constantFrom('', 'a', 'other', 'a/b'), (given, path) => {
        const state = compileRules(given).state(fromText(path));
        const best = Math.max(...below(path === '' ? '' : `${path}/`, 4).map((other) => slowLevel(given, other)));
        expect([state.visibleBelow, state.writableBelow]).toEqual([best >= 1, best >= 5]);
      }),
      { numRuns: 500 },
    );
  });

  it('explain a path with the winner first and the same level', () => {
    fc.assert(
      fc.property(rules, fc.constantFrom(...PATHS), (given, path) => {
        const compiled = compileRules(given);
        const [winner] = compiled.matching(fromText(path));
        const level = winner === undefined ? 0 : levelOfRule(winner.rule);
        expect(level).toBe(compiled.decide(fromText(path)));
      }),
    );
  });
});

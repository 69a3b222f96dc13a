import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import type { PermissionRule } from '../../../lib/contract/messages.ts';
import { compileRules, explain, MERGED, READ, REDACTED, strictest, WRITE } from '../../../lib/permissions/index.ts';
import { glob } from './rules.ts';

const contents = (pattern: string, what: 'redacted' | 'shown', priority = 0, redactor = ''): PermissionRule => ({
  ...glob(pattern, 'NONE', priority),
  contents: what,
  ...(redactor !== '' && { redactor }),
});
const PATHS = ['', 'a', 'a/key', 'a/b/key', 'b/key', 'm/key', 'm/a/key', 'key'];

describe('a rule about contents', () => {
  it('redacts what another rule lets be read or written, and grants nothing', () => {
    const own = [glob('w/**', 'WRITE'), glob('r/**', 'READ'), glob('v/**', 'VIEW')];
    const rules = compileRules([...own, contents('**/key', 'redacted', 5)]);
    const at = (path: string) => rules.decide(fromText(path));
    expect(['w/key', 'r/key', 'v/key', 'key'].map(at)).toEqual([MERGED, REDACTED, 1, 0]);
    expect(['w/x', 'r/x', 'v/x'].map(at)).toEqual([WRITE, READ, 1]);
  });

  it('yields to one that precedes it, wherever that matches', () => {
    const rules = compileRules([
      glob('/**', 'WRITE'),
      contents('**/key', 'redacted', -2, 'pem'),
      contents('m/**', 'shown', -1),
      contents('m/a/key', 'redacted'),
    ]);
    expect(PATHS.map((path) => rules.decide(fromText(path)))).toEqual([5, 5, 3, 3, 3, 5, 3, 3]);
    expect(rules.state(fromText('b/key')).redactor).toBe('pem');
  });

  it('can keep files from being changed', () => {
    const refused = { ...contents('w/config', 'redacted', 1, 'gitconfig'), on_write: 'refuse' };
    const kept = { ...contents('**/hooks/**', 'shown'), contents: 'kept' };
    const rules = compileRules([glob('w/**', 'WRITE'), refused, kept]);
    expect(['w/config', 'w/hooks/a', 'hooks/a'].map((path) => rules.decide(fromText(path)))).toEqual([
      REDACTED,
      READ,
      0,
    ]);
  });

  it('leaves the redactor of a rule that redacts by itself', () => {
    const own = { ...glob('a/key', 'READ'), view: 'redacted', redactor: 'json' };
    const { level, redactor } = compileRules([own, contents('**/key', 'redacted', 9, 'pem')]).state(fromText('a/key'));
    expect([level, redactor]).toEqual([REDACTED, 'json']);
  });

  it('is walked to by names as by paths, and says of everything below what holds there', () => {
    const access = [glob('/**', 'WRITE', -1), glob('a/**', 'READ'), glob('b/**', 'NONE')];
    const about = [contents('**/key', 'redacted'), contents('m/**', 'shown', 1)];
    const rules = compileRules([...access, ...about]);
    const limits = compileRules([
      glob('/**', 'WRITE', -9),
      { ...glob('**/key', 'READ'), view: 'redacted', on_write: 'merge' },
      glob('m/**', 'WRITE', 1),
    ]);
    for (const path of PATHS) {
      const state = rules.state(fromText(path));
      const level = strictest(compileRules(access).decide(fromText(path)), limits.decide(fromText(path)));
      expect([path, state.level]).toEqual([path, level]);
      const { uniformBelow } = state;
      if (uniformBelow !== undefined) expect(state.child(fromText('key')).level).toBe(uniformBelow);
    }
    expect(rules.state(fromText('x/y'))).toBe(rules.state(fromText('u/v')));
  });

  it('is named by the explanation of a path', () => {
    const rules = compileRules([glob('/**', 'WRITE'), contents('**/key', 'redacted')]);
    expect(explain(rules, fromText('a/key')).reason).toContain(
      'permissions[1] (glob "**/key") puts placeholders in place of secrets',
    );
    expect(explain(rules, fromText('a/x')).reason).not.toContain('permissions[1]');
  });

  it.each([
    [{ contents: 'hidden' }, 'permissions[0].contents must be "redacted", "kept", "shown" or empty'],
    [
      { contents: 'shown', permission: 'PERMISSION_READ' as const },
      'permissions[0].permission must be none with contents',
    ],
    [{ contents: 'shown', redactor: 'pem' }, 'permissions[0].redactor must be empty'],
    [{ contents: 'shown', view: 'redacted' }, 'permissions[0].view must be empty'],
  ])('is refused with %j', (fields, message) => {
    expect(() => compileRules([{ ...glob('a', 'NONE'), ...fields }])).toThrow(message);
  });
});

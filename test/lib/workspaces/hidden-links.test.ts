import { expect, it } from 'vitest';
import { ALL_WRITE, outcome, rule, Sandbox } from './sandbox.ts';

const HIDDEN = [...ALL_WRITE, rule('a/f', 'NONE', 5)];

it.each(['delta', 'base'])(
  'all links of a file in the %s are hidden if the rules hide one, also after a restart',
  (where) => {
    const s = new Sandbox(where === 'base' ? { 'a/f': 'x', 'b/own': '' } : { 'a/': '', 'b/own': '' });
    if (where === 'delta') s.create('a/f');
    s.link('a/f', 'b/f');
    expect(s.list('b')).toEqual(['f', 'own']);
    const b = s.id('b');
    s.notices.inodes.length = 0;
    s.fs.setRules(s.spec.id, HIDDEN);
    s.spec = { ...s.spec, rules: HIDDEN };
    const expectHidden = () => {
      expect([s.list('a'), s.list('b')]).toEqual([[], ['own']]);
      expect(outcome(() => s.id('b/f'))).toBe('ENOENT');
      expect(outcome(() => s.create('b/f'))).toBe('EEXIST');
    };
    expectHidden();
    expect(s.notices.inodes).toContain(b);
    s.restart();
    expectHidden();
    s.fs.setRules(s.spec.id, ALL_WRITE);
    expect([s.list('a'), s.list('b')]).toEqual([['f'], ['f', 'own']]);
  },
);

it('the listing of a directory with links is invalidated by rules for other directories, though its files are unknown', () => {
  const s = new Sandbox({ 'b/own': '' });
  s.mkdir('a');
  s.create('a/f');
  s.link('a/f', 'b/f');
  s.restart();
  const b = s.id('b');
  s.listId(b, false);
  s.notices.inodes.length = 0;
  s.fs.setRules(s.spec.id, HIDDEN);
  expect(s.notices.inodes).toContain(b);
});

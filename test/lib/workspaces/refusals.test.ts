import { describe, expect, it } from 'vitest';
import { outcome, rule, Sandbox } from './sandbox.ts';

const RULES = [
  rule('/**', 'READ'),
  rule('src/**', 'WRITE', 1),
  rule('secrets/**', 'NONE', 1),
  rule('seen/**', 'VIEW', 1),
];
const BASE = { 'package.json': '{}', 'src/a': 'a', 'src/dir/b': 'b', 'secrets/key': 'k', 'seen/x': 'x', 'docs/d': 'd' };

const make = () => new Sandbox(BASE, { rules: RULES });
const refused = (s: Sandbox) => s.fs.refusals('sb_1').map(({ path, count }) => [path, count]);

describe('what the rules refuse is recorded', () => {
  it('of a name that is hidden, be it there or not: that is looked at later', () => {
    const s = make();
    expect(s.exists('secrets')).toBe(false);
    expect(s.fs.refusals('sb_1')).toEqual([{ path: 'secrets', count: 1, isLookup: true }]);
  });

  it('of a name that cannot be made, removed or replaced', () => {
    const s = make();
    for (const act of [
      () => s.create('secrets', 'x'),
      () => s.unlink('package.json'),
      () => s.mkdir('new'),
      () => s.rename('src/a', 'docs/d'),
      () => s.rename('docs/d', 'src/d'),
      () => s.link('docs/d', 'src/d'),
      () => s.set('seen/x', { size: 0 }),
    ])
      expect(outcome(act)).toBe('EACCES');
    const count = { secrets: 1, 'package.json': 1, new: 1, 'docs/d': 3, 'seen/x': 1 };
    expect(Object.fromEntries(refused(s))).toEqual(count);
  });

  it('of a file that the kernel refuses to open by its mode: it asks for the attributes again', () => {
    const s = make();
    for (const path of ['package.json', 'seen/x', 'docs']) s.stat(path);
    expect(refused(s)).toEqual([
      ['package.json', 1],
      ['seen/x', 1],
      ['docs', 1],
    ]);
  });

  it('up to a number of paths', () => {
    const s = make();
    for (let at = 0; at < 1000; at++) outcome(() => s.create(`new${at}`));
    expect(refused(s).length).toBe(256);
    outcome(() => s.create('new0'));
    expect(refused(s)[0]).toEqual(['new0', 2]);
  });
});

describe('what the rules allow is not recorded', () => {
  it('of files that may be written, and names that are not there', () => {
    const s = make();
    s.stat('src/a');
    s.write('src/a', 'new');
    s.create('src/c');
    s.rename('src/c', 'src/d');
    expect(s.exists('src/none')).toBe(false);
    expect(outcome(() => s.mkdir('src/dir'))).toBe('EEXIST');
    expect(outcome(() => s.rmdir('src/dir'))).toBe('ENOTEMPTY');
    expect(refused(s)).toEqual([]);
  });

  it('of attributes that the kernel asks for because it has read the node, or was told of a change', () => {
    const s = make();
    s.read('package.json');
    s.list('docs');
    for (const path of ['package.json', 'docs']) s.stat(path);
    expect(refused(s)).toEqual([]);
    s.stat('seen/x');
    s.fs.setRules('sb_1', [rule('/**', 'READ')]);
    const before = refused(s);
    s.stat('seen/x');
    expect(refused(s)).toEqual(before);
  });
});

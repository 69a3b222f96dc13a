import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { outcome, rule, Sandbox } from './sandbox.ts';

const BASE = { 'd/x': 'x', 'd/y': 'y', 'd/sub/z': 'z', 'd/sub/empty/': '', 'd/run.sh': '#!', other: 'o' };
const ALL = ['d', 'd/run.sh', 'd/sub', 'd/sub/empty', 'd/sub/z', 'd/x', 'd/y'];

/** Removes base paths like a commit of another sandbox. */
function removal(s: Sandbox, paths = ALL): boolean {
  const renamed = s.fs.preserveRemoved(s.spec, paths.map(fromText));
  s.fs.baseChanging('cb_1', paths.map(fromText));
  for (const path of [...paths].reverse()) rmSync(join(s.spec.base, path), { recursive: true });
  s.fs.baseChanged('cb_1', paths.map(fromText));
  return renamed;
}

describe('a directory that the sandbox renamed, when the base loses its old path', () => {
  it('keeps all its entries as the sandbox’s own', () => {
    const s = new Sandbox(BASE);
    s.rename('d', 'e');
    s.write('e/x', 'MINE');
    s.unlink('e/y');
    const before = s.tree();
    expect(removal(s)).toBe(true);
    expect(s.tree()).toEqual(before);
    s.restart();
    expect(s.tree()).toEqual(before);
    const { changes } = s.fs.changes('sb_1', ROOT_PATH, 100);
    expect(changes.map(({ path, kind, conflict }) => `${kind} ${path} ${conflict}`)).toEqual([
      'added e false',
      'added e/run.sh false',
      'added e/sub false',
      'added e/sub/empty false',
      'added e/sub/z false',
      'added e/x false',
    ]);
  });

  it('shows nothing of a directory that the base gets there later', () => {
    const s = new Sandbox(BASE);
    s.rename('d', 'e');
    removal(s);
    const before = s.tree();
    mkdirSync(join(s.spec.base, 'd/sub'), { recursive: true });
    writeFileSync(join(s.spec.base, 'd/sub/later'), 'later');
    s.fs.baseChanged('cb_1', ['d', 'd/sub', 'd/sub/later'].map(fromText));
    expect(s.tree()).toEqual(before);
  });

  it('keeps entries that were moved on to other paths, and open files', () => {
    const s = new Sandbox(BASE);
    s.rename('d', 'e');
    s.mkdir('t');
    s.rename('e/sub', 't/s');
    s.rename('e', 't/e');
    const before = s.tree();
    const open = s.id('t/s/z');
    removal(s);
    expect(s.tree()).toEqual(before);
    expect(s.readId(open)).toBe('z');
    s.fs.write(s.caller, open, 0, Buffer.from('Z'), false);
    expect(s.read('t/s/z')).toBe('Z');
  });

  it('keeps entries that the rules now hide', () => {
    const s = new Sandbox(BASE);
    s.rename('d', 'e');
    s.fs.setRules('sb_1', [rule('/**', 'WRITE'), rule('/e/sub/**', 'NONE', 1)]);
    removal(s);
    expect(s.exists('e/sub')).toBe(false);
    s.fs.setRules('sb_1', [rule('/**', 'WRITE')]);
    expect(s.read('e/sub/z')).toBe('z');
  });

  it('keeps them in a workspace that is not attached, and changes nothing in one without renames', () => {
    const s = new Sandbox(BASE);
    s.rename('d', 'e');
    const before = s.tree();
    s.fs.detach('sb_1');
    removal(s);
    s.fs.attach(s.spec);
    expect(s.tree()).toEqual(before);
    const plain = new Sandbox(BASE);
    plain.write('d/x', 'MINE');
    expect(removal(plain)).toBe(false);
    expect(plain.tree()).toEqual({ 'd/': '', 'd/x': 'MINE', other: 'o' });
  });

  it('keeps as much as the quota allows, and reports the rest as lost', () => {
    const s = new Sandbox({ 'd/a': 'a', 'd/large': 'L'.repeat(5000), 'd/z': 'z' }, { maxBytes: 1000 });
    s.rename('d', 'e');
    expect(
      outcome(() =>
        s.fs.preserveRemoved(s.spec, [fromText('d'), fromText('d/a'), fromText('d/large'), fromText('d/z')]),
      ),
    ).toBe('EDQUOT');
    rmSync(join(s.spec.base, 'd'), { recursive: true });
    s.fs.baseChanged('cb_1', ['d', 'd/a', 'd/large', 'd/z'].map(fromText));
    s.forgetAll();
    expect(s.tree()).toEqual({ 'e/': '', 'e/a': 'a', 'e/z': 'z' });
  });
});

import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { commitPaused } from './commit.ts';
import { onDisk } from './on-disk.ts';
import { Sandbox } from './sandbox.ts';

function upload(s: Sandbox, path: string): void {
  s.fs.baseChanging('cb_1', [fromText(path)]);
  s.putBase(path, 'uploaded');
  s.fs.baseChanged('cb_1', [fromText(path)]);
}

describe('a directory that took the place of an equal one, after its commit', () => {
  it.each([
    ['empty ones', {}],
    ['with an equal file', { 'q/x': 'x' }],
  ])('does not show what the codebase gets at its former path: %s', (_, tree) => {
    const isEmpty = Object.keys(tree).length === 0;
    const s = new Sandbox({ 'p/x': 'x', 'q/x': 'x' });
    if (isEmpty) s.unlink('p/x');
    s.unlink('q/x');
    if (isEmpty) commitPaused(s);
    s.rename('p', 'q');
    commitPaused(s);
    expect(onDisk(s.spec.base)).toEqual({ 'q/': '', ...tree });
    s.mkdir('p');
    s.create('p/a', 'a');
    commitPaused(s);
    expect(s.tree()).toEqual({ 'p/': '', 'p/a': 'a', 'q/': '', ...tree });
    upload(s, 'q/n');
    expect(s.read('q/n')).toBe('uploaded');
  });
});

describe('a name that was removed from a directory before that was renamed', () => {
  it('is shown after their commit if the codebase gets it at the new path', () => {
    const s = new Sandbox({ 'p/c': 'c', 'p/x': 'x' });
    s.rename('p', 'r');
    s.rename('r/c', 'z');
    commitPaused(s);
    upload(s, 'r/c');
    expect(s.tree()).toEqual({ 'r/': '', 'r/c': 'uploaded', 'r/x': 'x', z: 'c' });
    expect(s.fs.changes(s.spec.id, ROOT_PATH, 10).changes).toEqual([]);
  });
});

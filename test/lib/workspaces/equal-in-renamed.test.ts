import { describe, expect, it } from 'vitest';
import { ROOT_PATH, toText } from '../../../lib/byte-string.ts';
import { commitPaused } from './commit.ts';
import { onDisk } from './on-disk.ts';
import { Sandbox } from './sandbox.ts';

const EXCHANGE = 2;

const listed = (s: Sandbox) =>
  s.fs.changes(s.spec.id, ROOT_PATH, 1000).changes.map(({ path, kind, conflict }) => ({
    path: toText(path),
    kind,
    conflict,
  }));

/** Commits, and checks that the codebase then has what the sandbox shows. */
function commit(s: Sandbox): void {
  const shown = s.tree();
  expect(listed(s).filter(({ conflict }) => conflict)).toEqual([]);
  commitPaused(s);
  expect(s.tree()).toEqual(shown);
  expect(onDisk(s.spec.base)).toEqual(shown);
  expect(listed(s)).toEqual([]);
}

/** A commit leaves out what is equal in the codebase: it has no version there, which was renamed away. */
describe('what a sandbox made equal to the entries of a renamed directory', () => {
  it('is removed later without a conflict, from a directory that took the place of it', () => {
    const s = new Sandbox({ 'p/g': 'base', 'q/f': 'other' });
    s.rename('q', 'p', EXCHANGE);
    s.create('p/g', 'base');
    commit(s);
    s.unlink('p/g');
    commit(s);
  });

  it('is removed later without a conflict, in a new directory at its place', () => {
    const s = new Sandbox({ 'p/g': 'base' });
    s.rename('p', 'q');
    s.mkdir('p');
    s.create('p/g', 'base');
    commit(s);
    s.unlink('p/g');
    commit(s);
  });

  it('is written later without a conflict, in a new directory at its place', () => {
    const s = new Sandbox({ 'p/g': 'base' });
    s.rename('p', 'q');
    s.mkdir('p');
    s.create('p/g', 'base');
    commit(s);
    s.write('p/g', 'BASE');
    commit(s);
  });

  it('is removed later with its new directory, and without a conflict', () => {
    const s = new Sandbox({ 'p/g': 'base', 'p/d/f': 'f' });
    s.rename('p', 'q');
    s.mkdir('p');
    s.create('p/g', 'base');
    s.mkdir('p/d');
    s.create('p/d/f', 'f');
    commit(s);
    s.unlink('p/g');
    s.unlink('p/d/f');
    s.rmdir('p/d');
    s.rmdir('p');
    commit(s);
  });

  it('is removed later without a conflict, from a new directory in one that took its place', () => {
    const s = new Sandbox({ 'p/d/f': 'f', 'q/f': 'other' });
    s.rename('q', 'p', EXCHANGE);
    s.mkdir('p/d');
    s.create('p/d/f', 'f');
    commit(s);
    s.unlink('p/d/f');
    commit(s);
  });

  it('shows no other directory, if equal directories took the places of each other', () => {
    const s = new Sandbox({ 'a/x': 'x', 'b/x': 'x', 'c/x': 'x', 'd/x': 'other', 'a/y': 'y', 'b/y': 'y', 'c/y': 'y' });
    for (const [from, to] of ['cd', 'cb', 'ba'] as const) s.rename(from!, to!, EXCHANGE);
    commit(s);
    s.write('b/x', 'b');
    commit(s);
    s.unlink('c/y');
    commit(s);
  });

  it('shows no other directory, if an equal one is in one that took the place of another', () => {
    const s = new Sandbox({ 'a/k/x': 'x', 'a/y': 'y', 'b/k/x': 'x', 'b/y': 'y', 'd/l/x': 'x' });
    s.create('b/k/l', 'l');
    s.rename('d/l', 'b/k', EXCHANGE);
    s.rename('b', 'a', EXCHANGE);
    commit(s);
    s.write('a/k/x', 'X');
    s.unlink('b/k/x');
    commit(s);
  });

  it('stays, if it is the directory itself that was put back, and another one takes the place that it had meanwhile', () => {
    const s = new Sandbox({ 'p/d/g': 'g', 'q/e/f': 'f' });
    s.rename('p', 'q', EXCHANGE);
    s.rename('p/e', 'q/e');
    s.rename('q/d', 'p/e');
    commit(s);
    s.write('q/e/f', 'F');
    s.write('p/e/g', 'G');
    commit(s);
  });

  it('stays, with changes in it', () => {
    const s = new Sandbox({ 'p/d/g': 'g', 'q/e/f': 'f', 'q/e/h': 'h' });
    s.rename('p', 'q', EXCHANGE);
    s.rename('p/e', 'q/e');
    s.rename('q/d', 'p/e');
    s.write('q/e/f', 'F');
    s.create('q/e/n', 'n');
    commit(s);
    s.unlink('q/e/f');
    commit(s);
  });
});

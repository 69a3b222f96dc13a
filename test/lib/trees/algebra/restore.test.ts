import { describe, expect, it } from 'vitest';
import { Blocked } from '../../../../lib/trees/algebra/blocked.ts';
import { restore } from '../../../../lib/trees/algebra/restore.ts';
import type { Entry } from '../../../../lib/trees/format/entry.ts';
import { chosen } from '../model/chosen.ts';
import { SmallTrees } from './small-trees.ts';

const trees = new SmallTrees();

function restored(head: Entry, version: Entry, paths: string[], excluded?: string): Entry | undefined {
  const { comparison, memory } = trees;
  return restore(
    { comparison, sink: memory.hashed, choice: chosen(paths, excluded), next: trees.numbers.next },
    head,
    version,
  );
}

describe('restore', () => {
  const version = trees.tree({ 'src/a': '1', 'src/b': '1', 'doc/x': '1', readme: '1' });
  const head = trees.change(version, { 'src/a': '2', 'src/c': '2', 'doc/x': undefined, doc: undefined, readme: '2' });

  it('of all makes the tree of the old version', () => {
    expect(trees.comparison.same(restored(head, version, ['']), version)).toBe(true);
  });

  it('of paths leaves all others as they are', () => {
    const now = restored(head, version, ['src/a', 'doc']);
    expect(trees.paths(now)).toEqual(['doc/', 'doc/x', 'readme', 'src/', 'src/a', 'src/b', 'src/c']);
    expect(trees.at(now, 'src/a')?.key).toBe(trees.at(version, 'src/a')?.key);
    expect(trees.at(now, 'readme')).toEqual(trees.at(head, 'readme'));
  });

  it('of a directory removes what was added to it, but for what is excluded', () => {
    expect(trees.paths(restored(head, version, ['src']))).toEqual(['readme', 'src/', 'src/a', 'src/b']);
    const kept = restored(head, version, ['src'], 'src/c');
    expect(trees.paths(kept)).toEqual(['readme', 'src/', 'src/a', 'src/b', 'src/c']);
  });

  it('makes the directories that a path needs', () => {
    expect(trees.paths(restored(head, version, ['doc/x']))).toEqual([
      'doc/',
      'doc/x',
      'readme',
      'src/',
      'src/a',
      'src/b',
      'src/c',
    ]);
  });

  it('leaves head as it is where both are the same', () => {
    expect(restored(head, version, ['src/b', 'nowhere'])).toBe(head);
  });

  it('names what is in the way of a path', () => {
    const file = trees.change(head, { doc: 'a file' });
    expect(() => restored(file, version, ['doc/x'])).toThrow(Blocked);
    expect(trees.paths(restored(file, version, ['doc']))).toContain('doc/x');
  });
});

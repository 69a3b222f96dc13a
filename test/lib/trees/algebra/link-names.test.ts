import { describe, expect, it } from 'vitest';
import { linkNames } from '../../../../lib/trees/algebra/link-names.ts';
import { SmallTrees } from './small-trees.ts';

describe('linkNames', () => {
  const trees = new SmallTrees();
  const [one, two] = [trees.file('1', { nlink: 3 }), trees.file('2', { nlink: 2 })];
  const tree = trees.tree({
    a: one,
    'd/b': one,
    'd/e/c': one,
    'd/x': two,
    y: two,
    'plain/file': '1',
    'plain/deep/file': '1',
  });

  it('tells the paths of each file with several names', () => {
    const names = linkNames(trees.memory, tree);
    expect([...names.keys()].sort()).toEqual([one.ino, two.ino].sort());
    expect(names.get(one.ino)?.sort()).toEqual(['a', 'd/b', 'd/e/c']);
    expect(names.get(two.ino)?.sort()).toEqual(['d/x', 'y']);
  });

  it('reads no directory without such names', () => {
    trees.memory.loads = 0;
    linkNames(trees.memory, tree);
    expect(trees.memory.loads).toBe(3);
    expect(linkNames(trees.memory, trees.at(tree, 'plain')).size).toBe(0);
    expect(trees.memory.loads).toBe(4);
  });
});

import { describe, expect, it } from 'vitest';
import { commit } from '../../../../lib/trees/algebra/commit.ts';
import { discard } from '../../../../lib/trees/algebra/discard.ts';
import { follow } from '../../../../lib/trees/algebra/follow.ts';
import { restore } from '../../../../lib/trees/algebra/restore.ts';
import type { Entry } from '../../../../lib/trees/format/entry.ts';
import { fileKey } from '../../../../lib/trees/format/keys.ts';
import { parseObject } from '../../../../lib/trees/format/parse-object.ts';
import { keyOfBytes } from '../memory.ts';
import { chosen } from '../model/chosen.ts';
import { SmallTrees } from './small-trees.ts';

const trees = new SmallTrees();
const { comparison, memory } = trees;
const { next } = trees.numbers;

type Publish = (path: string, entry: Entry) => Entry;

/** `own`: the numbers that nobody but the sandbox can have. */
function committed(
  base: Entry,
  mine: Entry,
  paths: string[],
  own: number[] = [],
  publish: Publish = (_, entry) => entry,
) {
  const numbers = { next, isOwn: (ino: number) => own.includes(ino) };
  const stores = { own: memory.placed, published: memory.hashed };
  const options = { comparison, choice: chosen(paths), onConflict: '' as const, ...stores, publish, numbers };
  const result = commit({ ...options, time: { s: 5, ns: 6 } }, { base, mine, head: base });
  if (result.outcome !== 'committed') throw new Error(result.outcome);
  return result.trees;
}

const options = { comparison, sink: memory.placed, next };

function discarded(base: Entry, mine: Entry, paths: string[]): Entry | undefined {
  return discard(options, chosen(paths), { base, mine, head: base }).m;
}

/** Number and count of names at paths. */
function at(tree: Entry | undefined, ...paths: string[]) {
  return paths.map((path) => {
    const entry = trees.at(tree, path);
    return entry && { ino: entry.ino, nlink: entry.nlink };
  });
}

describe('the number of a file in head after a commit', () => {
  it('is that of the sandbox if nobody else can have it', () => {
    const base = trees.tree({});
    const file = trees.file('1');
    expect(trees.at(committed(base, trees.change(base, { a: file }), [''], [file.ino]).head, 'a')?.ino).toBe(file.ino);
    expect(trees.at(committed(base, trees.change(base, { a: file }), ['']).head, 'a')?.ino).not.toBe(file.ino);
  });

  it.each(['changed in its place', 'renamed'])(
    'is a new one for a file that was %s; the sandbox keeps its own',
    (how) => {
      const base = trees.tree({ old: '1' });
      const { ino } = trees.at(base, 'old')!;
      const mine = trees.change(
        base,
        how === 'renamed' ? { old: undefined, new: trees.at(base, 'old') } : { old: trees.file('2', { ino }) },
      );
      const path = how === 'renamed' ? 'new' : 'old';
      const { mine: now, head } = committed(base, mine, [path]);
      expect(trees.at(now, path)?.ino).toBe(ino);
      expect(trees.at(head, path)?.ino).not.toBe(ino);
    },
  );
});

describe('a file with several names in the sandbox', () => {
  const base = trees.tree({});
  const linked = trees.file('1', { nlink: 2 });
  const mine = trees.change(base, { a: linked, b: linked });

  it('becomes a file for each name in head, and stays one in the sandbox', () => {
    const { mine: now, head } = committed(base, mine, [''], [linked.ino]);
    const [a, b] = at(head, 'a', 'b');
    expect([a!.nlink, b!.nlink, a!.ino === b!.ino]).toEqual([1, 1, false]);
    expect(at(now, 'a', 'b')).toEqual([
      { ino: linked.ino, nlink: 2 },
      { ino: linked.ino, nlink: 2 },
    ]);
  });

  it('has the published contents at all names after a commit of one', () => {
    const key = keyOfBytes('what was published');
    const { mine: now } = committed(base, mine, ['a'], [], (_, entry) => ({ ...entry, key }));
    expect(trees.at(now, 'b')).toMatchObject({ ino: linked.ino, nlink: 2, key });
  });

  it('becomes two if the names are published with different contents', () => {
    const publish: Publish = (path, entry) => ({ ...entry, key: keyOfBytes(path) });
    const { mine: now } = committed(base, mine, [''], [], publish);
    const [a, b] = at(now, 'a', 'b');
    expect([a!.nlink, b!.nlink, a!.ino === b!.ino]).toEqual([1, 1, false]);
    expect(trees.at(now, 'b')?.key).toBe(keyOfBytes('b'));
  });
});

describe('a data file with holes', () => {
  it('has none after its commit, as its contents are whole in the store of the codebase', () => {
    const base = trees.tree({});
    const key = fileKey({ store: 7n, number: 1, birth: 1, version: 0 });
    const mine = trees.change(base, { a: { ...trees.file('1'), key, size: 8192, holes: 4096 } });
    const publish: Publish = (_, entry) => ({ ...entry, key: keyOfBytes('published') });
    for (const tree of Object.values(committed(base, mine, [''], [], publish))) {
      const { bytes } = memory.load(tree!.key);
      expect(parseObject(bytes).entry(0)).toMatchObject({ key: keyOfBytes('published'), holes: undefined });
    }
  });
});

describe('a file with several names in the codebase', () => {
  const linked = trees.file('1', { nlink: 3 });
  const base = trees.tree({ a: linked, 'd/b': linked, 'd/c': linked });
  const all = ['a', 'd/b', 'd/c'];

  it('has one name less for a commit that replaces or removes one', () => {
    for (const other of [undefined, trees.file('2')]) {
      const { head, mine, base: seen } = committed(base, trees.change(base, { 'd/b': other }), ['d/b']);
      for (const tree of [head, mine, seen])
        expect(at(tree, 'a', 'd/c')).toEqual([
          { ino: linked.ino, nlink: 2 },
          { ino: linked.ino, nlink: 2 },
        ]);
    }
  });

  it('has one name less for a sandbox that follows, and one more for a link of its own', () => {
    const mine = trees.change(base, {
      ...Object.fromEntries(all.map((path) => [path, { ...linked, nlink: 4 }])),
      own: { ...linked, nlink: 4 },
    });
    const head = trees.change(base, {
      a: trees.file('2'),
      'd/b': { ...linked, nlink: 2 },
      'd/c': { ...linked, nlink: 2 },
    });
    const { m } = follow(options, { base, mine, head });
    expect(at(m, 'd/b', 'd/c', 'own')).toEqual(Array(3).fill({ ino: linked.ino, nlink: 3 }));
    expect(at(m, 'a')).toEqual(at(head, 'a'));
  });

  it('is one file again after a discard of what the sandbox had changed', () => {
    const two = { ...linked, nlink: 2 };
    const removed = trees.change(base, { a: undefined, 'd/b': two, 'd/c': two });
    expect(at(discarded(base, removed, ['a']), ...all)).toEqual(Array(3).fill({ ino: linked.ino, nlink: 3 }));
  });

  it('is another file at a name that is discarded alone', () => {
    const own = trees.file('own', { ino: linked.ino, nlink: 3 });
    const mine = trees.change(base, { a: own, 'd/b': own, 'd/c': own });
    const now = discarded(base, mine, ['a']);
    expect(at(now, 'd/b', 'd/c')).toEqual(Array(2).fill({ ino: linked.ino, nlink: 2 }));
    expect(trees.at(now, 'a')).toMatchObject({ nlink: 1, key: linked.key });
    expect(trees.at(now, 'a')?.ino).not.toBe(linked.ino);
  });
});

describe('what comes back to a path', () => {
  const base = trees.tree({ 'd/x': '1', 'd/e/y': '1' });

  it('has new numbers after a discard if the sandbox has renamed it', () => {
    const mine = trees.change(base, { d: undefined, moved: trees.at(base, 'd') });
    const now = discarded(base, mine, ['d']);
    expect(trees.paths(now)).toEqual(['d/', 'd/e/', 'd/e/y', 'd/x', 'moved/', 'moved/e/', 'moved/e/y', 'moved/x']);
    expect(at(now, 'moved', 'moved/x', 'moved/e/y')).toEqual(at(base, 'd', 'd/x', 'd/e/y'));
    const numbers = ['d', 'd/x', 'd/e', 'd/e/y'].map((path) => [trees.at(base, path)!.ino, trees.at(now, path)!.ino]);
    for (const [before, after] of numbers) expect(after).not.toBe(before);
  });

  it('has its number after a discard if the sandbox has it nowhere else', () => {
    expect(discarded(base, trees.change(base, { d: undefined }), ['d'])).toEqual(base);
  });

  it('has new numbers after a restore', () => {
    const head = trees.change(base, { d: undefined });
    const restored = restore({ comparison, sink: memory.hashed, choice: chosen(['']), next }, head, base);
    expect(comparison.same(restored, base)).toBe(true);
    for (const path of ['d', 'd/x', 'd/e/y']) expect(trees.at(restored, path)?.ino).not.toBe(trees.at(base, path)?.ino);
  });
});

import { describe, expect, it } from 'vitest';
import { commit } from '../../../../lib/trees/algebra/commit.ts';
import type { OnConflict } from '../../../../lib/trees/algebra/commit-options.ts';
import { Comparison } from '../../../../lib/trees/algebra/comparison.ts';
import { diff } from '../../../../lib/trees/algebra/diff.ts';
import { discard } from '../../../../lib/trees/algebra/discard.ts';
import { follow } from '../../../../lib/trees/algebra/follow.ts';
import { restore } from '../../../../lib/trees/algebra/restore.ts';
import { wants } from '../../../../lib/trees/algebra/wants.ts';
import { AbsentObject, type Source } from '../../../../lib/trees/directory/source.ts';
import type { Entry } from '../../../../lib/trees/format/entry.ts';
import { type Key, slotKey } from '../../../../lib/trees/format/keys.ts';
import { keyOfBytes } from '../memory.ts';
import { chosen } from '../model/chosen.ts';
import { SmallTrees } from './small-trees.ts';

const trees = new SmallTrees();
const { comparison, memory } = trees;
const { next } = trees.numbers;

function inSlot(contents: string, slot: number): Entry {
  return trees.file(contents, { key: slotKey({ store: 1n, class: 0, slot, sequence: 0, birth: 0, crc: 0 }) });
}

function committed(base: Entry, mine: Entry, head: Entry, paths: string[], onConflict: OnConflict = '') {
  const { placed: own, hashed: published } = memory;
  const publish = (_: string, entry: Entry) => entry;
  const options = { comparison, choice: chosen(paths), onConflict, own, published, publish, numbers: trees.numbers };
  return commit({ ...options, time: { s: 5, ns: 6 } }, { base, mine, head });
}

function followed(base: Entry, mine: Entry, head: Entry) {
  return follow({ comparison, sink: memory.placed, next }, { base, mine, head });
}

function discarded(base: Entry, mine: Entry, head: Entry, paths: string[], excluded?: string) {
  const options = { comparison, sink: memory.placed, next };
  return discard(options, chosen(paths, excluded), { base, mine, head });
}

describe('diff', () => {
  const before = trees.tree({ 'a/x': '1', 'a/y': '1', b: '1', 'c/z': '1' });
  const after = trees.change(before, { 'a/x': '2', b: undefined, 'd/new': '1', 'a/y': trees.file('1', { mtime: 9 }) });

  it('tells the paths that differ, directories before what is in them', () => {
    expect([...diff(comparison, before, after)].map(({ path }) => path)).toEqual(['a/x', 'b', 'd', 'd/new']);
  });

  it('tells, if asked, also what has other times or numbers', () => {
    const paths = [...diff(comparison, before, after, { raw: true })].map(({ path }) => path);
    expect(paths).toEqual(['', 'a', 'a/x', 'a/y', 'b', 'd', 'd/new']);
  });

  it('reads no directory that both trees have', () => {
    memory.loads = 0;
    expect([...diff(comparison, before, trees.change(before, { b: '2' }))]).toHaveLength(1);
    // The roots, by `change` and by `diff`.
    expect(memory.loads).toBeLessThanOrEqual(4);
  });
});

describe('wants', () => {
  it('names the contents in slots that may be equal to others: those of the same size', () => {
    const base = trees.tree({ same: 'one', longer: 'two', other: 'six' });
    const [same, longer] = [inSlot('one', 1), inSlot('longer', 2)];
    const mine = trees.change(base, { same, longer, added: inSlot('ten', 3) });
    expect([...wants(comparison, base, mine, base).keys()]).toEqual([same.key]);
    const head = trees.change(base, { added: 'ten' });
    const added = trees.at(mine, 'added')!;
    expect([...wants(comparison, base, mine, head).keys()].sort()).toEqual([same.key, added.key].sort());
  });

  it('names nothing whose hash is known, and contents of unknown hash are different', () => {
    const base = trees.tree({ same: 'one' });
    const same = inSlot('one', 1);
    const mine = trees.change(base, { same });
    expect(comparison.same(base, mine)).toBe(false);
    const hashes = new Map<Key, Key>([[same.key, keyOfBytes('one')]]);
    const knowing = new Comparison(memory, (key) => hashes.get(key));
    expect(wants(knowing, base, mine, base).size).toBe(0);
    expect(knowing.same(base, mine)).toBe(true);
  });
});

describe('follow', () => {
  const base = trees.tree({ 'a/x': '1', 'a/y': '1', 'b/z': '1' });

  it("gives a sandbox without changes head's tree, and one with changes head's objects for all other directories", () => {
    const head = trees.change(base, { 'b/z': '2' });
    expect(followed(base, base, head)).toEqual({ b: head, m: head });
    const mine = trees.change(base, { 'a/x': '9' });
    const { b, m } = followed(base, mine, head);
    expect(b).toBe(head);
    expect(trees.at(m, 'b')).toEqual(trees.at(head, 'b'));
  });

  it("keeps the sandbox's times where head did nothing, and takes head's where the sandbox did nothing", () => {
    const mine = trees.change(base, { 'a/x': trees.file('1', { mtime: 77 }), 'a/y': '9' });
    const head = trees.change(base, { 'b/z': trees.file('1', { mtime: 88 }), 'a/new': '1' });
    const { m } = followed(base, mine, head);
    expect(trees.at(m, 'a/x')?.mtime).toBe(77);
    expect(trees.at(m, 'b/z')?.mtime).toBe(88);
    expect(trees.at(m, 'a/new')).toBeDefined();
  });

  it('has the same result after each object was postponed once', () => {
    const mine = trees.change(base, { 'a/x': '9', 'b/w': '9' });
    const head = trees.change(base, { 'a/y': '2', 'b/z': undefined });
    const here = new Set<Key>();
    const postponing: Source = {
      load(key) {
        if (here.has(key)) return memory.load(key);
        here.add(key);
        throw new AbsentObject(key, 'postponed');
      },
    };
    const again = new Comparison(postponing, () => undefined);
    const run = () => follow({ comparison: again, sink: memory.hashed, next }, { base, mine, head });
    let [tries, result] = [0, undefined as ReturnType<typeof run> | undefined];
    for (; result === undefined; tries++) {
      try {
        result = run();
      } catch (error) {
        expect(error).toBeInstanceOf(AbsentObject);
      }
    }
    expect(tries).toBeGreaterThan(4);
    expect(result).toEqual(follow({ comparison, sink: memory.hashed, next }, { base, mine, head }));
  });
});

describe('commit', () => {
  it("gives head and the sandbox the same objects, and the time of the commit to head's directories with new names", () => {
    const base = trees.tree({ 'a/x': '1', 'b/y': '1' });
    const mine = trees.change(base, { 'a/x': '2', 'new/z': '3' });
    const result = committed(base, mine, base, ['']);
    if (result.outcome !== 'committed') throw new Error(result.outcome);
    const { trees: now } = result;
    expect(now.base).toEqual(now.head);
    expect(trees.at(now.mine, 'b')).toEqual(trees.at(base, 'b'));
    expect(trees.at(now.head, 'new')).toMatchObject({ mtime: 5, mtimeNs: 6 });
    expect([...diff(comparison, now.base, now.mine)]).toEqual([]);
  });

  it('takes no FIFO, socket or device', () => {
    const base = trees.tree({ a: '1' });
    const fifo = trees.file('', { type: 4 });
    const result = committed(base, trees.change(base, { 'd/fifo': fifo, 'd/file': '1' }), base, ['']);
    if (result.outcome !== 'committed') throw new Error(result.outcome);
    expect(trees.paths(result.trees.head)).toEqual(['a', 'd/', 'd/file']);
    expect([...diff(comparison, result.trees.base, result.trees.mine)].map(({ path }) => path)).toEqual(['d/fifo']);
  });

  it('names all conflicts, and changes nothing', () => {
    const base = trees.tree({ a: '1', 'd/b': '1' });
    const mine = trees.change(base, { a: '2', 'd/b': '2' });
    const head = trees.change(base, { a: '3', 'd/b': '3' });
    const now = followed(base, mine, head);
    expect(committed(now.b!, now.m!, head, [''])).toEqual({ outcome: 'conflicts', conflicts: ['a', 'd/b'] });
  });

  it('takes nothing of head inside of a removal that is not chosen: the sandbox has no directory for it', () => {
    const base = trees.tree({ 'd/x': '1', 'd/y': '1' });
    const mine = trees.change(base, { d: undefined });
    const head = trees.change(base, { 'd/x': '2' });
    const now = followed(base, mine, head);
    expect(committed(now.b!, now.m!, head, ['d/x'], 'theirs')).toEqual({ outcome: 'blocked', path: 'd' });
    expect(committed(now.b!, now.m!, head, ['d'], 'theirs')).toMatchObject({ outcome: 'committed', conflicts: ['d'] });
  });

  it('names a file in the way of what is chosen below a directory', () => {
    const base = trees.tree({ a: '1' });
    const mine = trees.change(base, { a: undefined, 'a/b': '1' });
    expect(committed(base, mine, base, ['a/b'])).toEqual({ outcome: 'blocked', path: 'a' });
  });
});

describe('discard', () => {
  it('leaves what is excluded, with the directories that it needs', () => {
    const base = trees.tree({ keep: '1' });
    const mine = trees.change(base, { 'd/a': '1', 'd/b': '1', keep: '2' });
    const { m } = discarded(base, mine, base, ['d', 'keep'], 'd/b');
    expect(trees.paths(m)).toEqual(['d/', 'd/b', 'keep']);
    expect(trees.at(m, 'keep')).toEqual(trees.at(base, 'keep'));
  });
});

describe('a tree as deep as paths can be', () => {
  const DEPTH = 2047;
  const deep = Array.from({ length: DEPTH }, () => 'd').join('/');
  const contents = trees.tree({ x: '1', y: '1' });
  const base = trees.below(DEPTH, contents);
  const mine = trees.below(DEPTH, trees.change(contents, { x: '2' }));
  const head = trees.below(DEPTH, trees.change(contents, { y: '2' }));
  const without = trees.change(base, { d: undefined });

  it('is compared, followed and committed', () => {
    const { b, m } = followed(base, mine, head);
    expect(trees.at(m, `${deep}/y`)?.key).toBe(trees.at(head, `${deep}/y`)?.key);
    expect([...diff(comparison, b, m)].map(({ path }) => path)).toEqual([`${deep}/x`]);
    expect(committed(b!, m!, head, ['']).outcome).toBe('committed');
    expect(b!.totals!.longest).toBe(deep.length + 2);
  });

  it('is added, removed, kept beside a removal, discarded and restored', () => {
    const { hashed } = memory;
    expect(committed(without, mine, without, ['']).outcome).toBe('committed');
    expect(committed(base, without, base, ['']).outcome).toBe('committed');
    expect(trees.at(followed(base, without, head).b, `${deep}/y`)?.size).toBe(1);
    expect(trees.at(followed(base, mine, without).m, `${deep}/x`)?.size).toBe(1);
    const choice = chosen([`${deep}/x`]);
    expect(comparison.same(discarded(base, mine, base, [`${deep}/x`]).m, base)).toBe(true);
    expect(comparison.same(restore({ comparison, sink: hashed, choice, next }, mine, base), base)).toBe(true);
    const inFile = trees.change(base, { d: 'file' });
    expect(committed(inFile, mine, inFile, ['']).outcome).toBe('committed');
  });
});

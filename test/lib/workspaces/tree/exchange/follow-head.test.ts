import { describe, expect, it } from 'vitest';
import type { DirectoryEntry, Entry } from '../../../../../lib/trees/format/entry.ts';
import { drop, put } from '../../../../../lib/workspaces/tree/changes/names.ts';
import { rebase, swap, take } from '../../../../../lib/workspaces/tree/exchange/follow-head.ts';
import { HeadMove } from '../../../../../lib/workspaces/tree/exchange/head-move.ts';
import { freeze } from '../../../../../lib/workspaces/tree/freeze.ts';
import { Replay } from '../../../../../lib/workspaces/tree/journal/replay.ts';
import { MAX_TAKEN } from '../../../../../lib/workspaces/tree/limits.ts';
import { LiveTree } from '../../../../../lib/workspaces/tree/live-tree.ts';
import { withEntry } from '../../../trees/edit.ts';
import { fileEntry } from '../../../trees/random.ts';
import { countOf, difference, flatOf } from '../flat.ts';
import { at, type Live, liveTree, TIME } from '../live.ts';
import { MemoryJournal } from '../memory-journal.ts';

const frozen = (live: Live) => freeze(live.tree, live.memory.placed, () => new MemoryJournal(), false);
const make = ({ tree }: Live, path: string) => put(tree, ...at(tree, path), fileEntry('', '', { ino: 900 }), TIME);
const contents = (live: Live, path: string) => flatOf(live.tree).get(path)?.ino;

/** Head with other entries at some paths. */
function moved(live: Live, changes: Record<string, Entry | undefined>): DirectoryEntry {
  let head: Entry = live.tree.base.base;
  for (const [path, entry] of Object.entries(changes))
    head = withEntry(live.memory, live.memory.hashed, head, path, entry);
  return head as DirectoryEntry;
}

function takes(live: Live, head: DirectoryEntry, version = 2): boolean {
  return take(live.tree, new HeadMove(live.memory, live.tree.base.base, head), version);
}

describe('a tree whose codebase has moved', () => {
  it('shows what head has where it changed nothing, and keeps its own', () => {
    const live = liveTree(['a/b', 'a/c', 'd']);
    make(live, 'a/own');
    expect(takes(live, moved(live, { 'a/b': fileEntry('', 'new', { ino: 50 }), 'a/c': undefined }))).toBe(true);
    expect([...flatOf(live.tree).keys()].sort()).toEqual(['', 'a', 'a/b', 'a/own', 'd']);
    expect(contents(live, 'a/b')).toBe(50);
    expect(live.tree.base.version).toBe(2);
  });

  it('writes nothing while it is idle, and base before its next change', () => {
    const live = liveTree(['a/b', 'd']);
    make(live, 'own');
    const before = live.journal.records.length;
    takes(live, moved(live, { 'a/b': fileEntry('', '1', { ino: 50 }) }), 2);
    takes(live, moved(live, { 'a/b': fileEntry('', '2', { ino: 51 }) }), 3);
    expect(live.journal.records).toHaveLength(before);
    drop(live.tree, ...at(live.tree, 'd'), TIME);
    const told = live.journal.records.slice(before).map((record) => ('version' in record ? record.version : record.op));
    expect(told).toEqual([2, 3, 'drop']);
  });

  it('is moved elsewhere if head changed more than a request may wait for', () => {
    const live = liveTree(Array.from({ length: MAX_TAKEN + 1 }, (_, n) => `d/${n}`));
    make(live, 'd/own');
    const head = moved(
      live,
      Object.fromEntries(Array.from({ length: MAX_TAKEN + 1 }, (_, n) => [`d/${n}`, undefined])),
    );
    expect(takes(live, head)).toBe(false);
    expect([flatOf(live.tree).size, live.tree.base.version]).toEqual([MAX_TAKEN + 4, 1]);
  });

  it('is head whatever changed, if it has nothing of its own', () => {
    const live = liveTree(Array.from({ length: 2 * MAX_TAKEN }, (_, n) => `d/${n}`));
    expect(takes(live, moved(live, { d: undefined }))).toBe(true);
    expect([...flatOf(live.tree).keys()]).toEqual(['']);
  });

  it('is refused a move from another base', () => {
    const live = liveTree(['a', 'b']);
    const head = moved(live, { a: undefined });
    rebase(live.tree, { version: 2, base: moved(live, { b: undefined }) });
    expect(take(live.tree, new HeadMove(live.memory, head, head), 3)).toBe(false);
  });

  it('has head in the place of a directory that became empty again, frozen or not', () => {
    const make2 = () => {
      const live = liveTree(['d/', 'e']);
      make(live, 'd/x');
      frozen(live);
      drop(live.tree, ...at(live.tree, 'd/x'), TIME);
      return live;
    };
    const [live, other] = [make2(), make2()];
    frozen(other);
    for (const each of [live, other]) {
      expect(takes(each, moved(each, { d: fileEntry('', 'file', { ino: 60 }) }))).toBe(true);
      expect(contents(each, 'd')).toBe(60);
      expect(each.tree.totals).toEqual(countOf(each.tree));
    }
  });
});

describe('a tree that is replayed after its codebase has moved', () => {
  /** A file is own, and its directory with it; head has another file there, and then not even the directory. */
  const later = (live: Live) => {
    make(live, 'b/own');
    drop(live.tree, ...at(live.tree, 'b/own'), TIME);
    const journal = new MemoryJournal();
    freeze(live.tree, live.memory.placed, () => journal, false);
    return journal;
  };
  const follow = (live: Live) => {
    for (const change of [{ 'b/x': fileEntry('', 'new', { ino: 50 }) }, { b: undefined }])
      takes(live, moved(live, change));
  };

  it('does not follow before no crash brings back the tree that was frozen', () => {
    const live = liveTree(['b/x', 'c']);
    const journal = later(live);
    journal.isRooted = false;
    const before = flatOf(live.tree);
    expect(() => follow(live)).toThrow('durable');
    expect([difference(flatOf(live.tree), before), live.tree.base.version]).toEqual(['', 1]);
  });

  it('is the same on the tree that was frozen', () => {
    const live = liveTree(['b/x', 'c']);
    const journal = later(live);
    const { source, frozen, base, epochs } = live.tree;
    const other = new LiveTree({ source, frozen, base, journal: new MemoryJournal(), epochs });
    follow(live);
    make(live, 'd');
    const replay = new Replay(other);
    for (const record of journal.records) replay.apply(record);
    expect(difference(flatOf(other), flatOf(live.tree))).toBe('');
  });

  it('is not swapped below what head changed, whatever directories were looked into', () => {
    for (const looked of [[], ['b']]) {
      const live = liveTree(['b/x', 'b/y', 'c']);
      frozen(live);
      const from = live.tree.frozen;
      for (const name of looked) at(live.tree, `${name}/x`);
      expect(takes(live, moved(live, { 'b/x': fileEntry('', 'new', { ino: 50 }) }))).toBe(true);
      const to = moved(live, { 'b/y': undefined });
      expect(swap(live.tree, from.key, to, live.tree.base)).toBe(false);
    }
  });
});

describe('a tree that is exchanged below what changed since', () => {
  it('is the new one, with what changed since', () => {
    const live = liveTree(['a/b', 'a/c', 'd/e']);
    frozen(live);
    const from = live.tree.frozen;
    make(live, 'a/own');
    const to = moved(live, { 'a/b': fileEntry('', 'new', { ino: 50 }), 'd/e': undefined });
    expect(swap(live.tree, from.key, to, live.tree.base)).toBe(true);
    expect([...flatOf(live.tree).keys()].sort()).toEqual(['', 'a', 'a/b', 'a/c', 'a/own', 'd']);
    expect(contents(live, 'a/b')).toBe(50);
  });

  it('stays as it is if both changed a name, or if it was frozen since', () => {
    const live = liveTree(['a/b']);
    frozen(live);
    const from = live.tree.frozen;
    make(live, 'a/b');
    const to = moved(live, { 'a/b': fileEntry('', 'new', { ino: 50 }) });
    expect(swap(live.tree, from.key, to, live.tree.base)).toBe(false);
    frozen(live);
    expect(swap(live.tree, from.key, to, live.tree.base)).toBe(false);
    expect(contents(live, 'a/b')).toBe(900);
  });
});

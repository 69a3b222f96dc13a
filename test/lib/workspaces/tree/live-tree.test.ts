import { describe, expect, it } from 'vitest';
import { fromLatin1 } from '../../../../lib/byte-string.ts';
import { ENOTDIR } from '../../../../lib/linux/errno.ts';
import { isDirectory } from '../../../../lib/trees/format/entry.ts';
import { move } from '../../../../lib/workspaces/tree/changes/move.ts';
import { drop, put } from '../../../../lib/workspaces/tree/changes/names.ts';
import { thaw } from '../../../../lib/workspaces/tree/changes/thaw.ts';
import { freeze } from '../../../../lib/workspaces/tree/freeze.ts';
import { OwnDirectory, OwnFile } from '../../../../lib/workspaces/tree/items.ts';
import { FREEZE_AT } from '../../../../lib/workspaces/tree/limits.ts';
import { longestBelow } from '../../../../lib/workspaces/tree/longest-below.ts';
import { directoryEntry, fileEntry } from '../../trees/random.ts';
import { difference, flatOf } from './flat.ts';
import { at, type Live, liveTree, TIME } from './live.ts';
import { MemoryJournal } from './memory-journal.ts';

const frozen = (live: Live) => freeze(live.tree, live.memory.placed, () => new MemoryJournal(), false);
const make = ({ tree }: Live, path: string) => put(tree, ...at(tree, path), fileEntry('', '', { ino: 900 }), TIME);
const many = (count: number) => Array.from({ length: count }, (_, n) => `d/name ${String(n * 7919).padStart(7, '0')}`);

describe('a live tree', () => {
  it('moves a frozen directory as an entry, whatever is in it', () => {
    const live = liveTree(['a/b/c', 'd/']);
    const [from, to] = ['a', 'd/a'].map((path) => at(live.tree, path)).map(([dir, name]) => ({ dir, name }));
    live.memory.loads = 0;
    move(live.tree, from!, to!, 'replace', TIME);
    expect(live.memory.loads).toBeLessThanOrEqual(2);
    expect(live.tree.lookup(live.tree.root, fromLatin1('a'))).toBeUndefined();
    expect([...flatOf(live.tree).keys()]).toEqual(['', 'd', 'd/a', 'd/a/b', 'd/a/b/c']);
  });

  it('has nothing in memory but what changed and the directories above it', () => {
    const live = liveTree(['a/b/c', 'a/d/e', 'f/g']);
    make(live, 'a/b/new');
    expect(live.tree.counters.patched).toBe(3);
    drop(live.tree, ...at(live.tree, 'a/b/new'), TIME);
    expect(live.tree.counters.patched).toBe(2);
  });

  it('tells at a freeze what each own item has become', () => {
    const live = liveTree(['a/file', 'b/file']);
    const { item } = make(live, 'a/new');
    const thawed = thaw(live.tree, ...at(live.tree, 'b/file'));
    const told = frozen(live);
    const named = [...told].map(([own, entry]) => [own instanceof OwnFile ? 'file' : 'directory', entry.name]);
    expect(named.sort()).toEqual([
      ['directory', ''],
      ['directory', 'a'],
      ['directory', 'b'],
      ['file', 'file'],
      ['file', 'new'],
    ]);
    expect(told.get(item as OwnFile)).toEqual(live.tree.lookup(at(live.tree, 'a/x')[0], fromLatin1('new')));
    expect(thawed.entry.nlink).toBe(1);
  });

  it('leaves objects as they are that nothing changed in', () => {
    const live = liveTree(many(5000));
    const before = live.memory.objects.size;
    make(live, 'd/name 0000001');
    frozen(live);
    // The object with the name, the index above it, and the root.
    expect(live.memory.objects.size - before).toBeLessThanOrEqual(4);
  });

  it('is as it was if a freeze fails', () => {
    const live = liveTree(['a/b/c', 'd/e']);
    make(live, 'a/b/new');
    make(live, 'd/new');
    const before = flatOf(live.tree);
    let puts = 0;
    const full = {
      seed: live.memory.placed.seed,
      put: (object: Parameters<typeof live.memory.placed.put>[0]) => {
        if (++puts === 2) throw new Error('no space');
        return live.memory.placed.put(object);
      },
    };
    expect(() => freeze(live.tree, full, () => new MemoryJournal(), true)).toThrow('no space');
    expect([live.tree.journal === live.journal, live.tree.epochs.shared]).toEqual([true, 0]);
    make(live, 'a/b/more');
    expect(difference(flatOf(live.tree), before)).not.toBe('');
    frozen(live);
    expect([...flatOf(live.tree).keys()].sort()).toEqual([
      '',
      'a',
      'a/b',
      'a/b/c',
      'a/b/more',
      'a/b/new',
      'd',
      'd/e',
      'd/new',
    ]);
  });

  it('has more changed names than it freezes at, if a freeze must wait', () => {
    const live = liveTree(['d/']);
    const count = 5000;
    for (let n = 0; n < count; n++) make(live, `d/${n}`);
    for (let n = 0; n < count; n += 2) drop(live.tree, ...at(live.tree, `d/${n}`), TIME);
    const before = flatOf(live.tree);
    expect(before.size).toBe(2 + count / 2);
    frozen(live);
    expect(difference(flatOf(live.tree), before)).toBe('');
  });

  it('refuses a change in a directory of before a freeze', () => {
    const live = liveTree(['a/b']);
    const [old, name] = at(live.tree, 'a/new');
    make(live, 'a/other');
    frozen(live);
    expect(() => put(live.tree, old, name, fileEntry('', ''), TIME)).toThrow('not in the tree any more');
  });

  it('makes no file own as a directory', () => {
    const { tree } = liveTree(['file']);
    expect(() => tree.own(tree.root, fromLatin1('file'))).toThrow(ENOTDIR);
  });

  it('knows the longest path in a directory, frozen and changed', () => {
    const live = liveTree(['a/bb/ccc', 'a/d']);
    const longest = () => longestBelow(live.tree.lookup(live.tree.root, fromLatin1('a'))!);
    expect(longest()).toBe('bb/ccc'.length);
    put(live.tree, ...at(live.tree, 'a/bb/dir'), directoryEntry('', { ino: 70 }), TIME);
    make(live, 'a/bb/dir/longer name');
    expect(longest()).toBe('bb/dir/longer name'.length);
    frozen(live);
    expect(longest()).toBe('bb/dir/longer name'.length);
  });
});

describe('a freeze is due', () => {
  it('after so many changed names', () => {
    const live = liveTree(['d/']);
    for (let n = 1; n < FREEZE_AT.patched - 1; n++) make(live, `d/${n}`);
    expect(live.tree.isFreezeDue).toBe(false);
    live.journal.bytes = 0;
    make(live, 'd/last');
    make(live, 'd/one more');
    expect(live.tree.isFreezeDue).toBe(true);
    frozen(live);
    expect(live.tree.isFreezeDue).toBe(false);
  });

  it('after so many bytes of records', () => {
    const live = liveTree(['d/']);
    live.journal.bytes = FREEZE_AT.journalBytes;
    expect(live.tree.isFreezeDue).toBe(true);
  });

  it('when few names, scattered over large directories, would write many objects anew', () => {
    const paths = many(20_000).map((path) => path + 'x'.repeat(150));
    const live = liveTree(paths);
    let changes = 0;
    for (; !live.tree.isFreezeDue; changes++) {
      drop(live.tree, ...at(live.tree, paths[(changes * 97) % paths.length]!), TIME);
    }
    expect(live.tree.counters.objectBytes).toBeGreaterThanOrEqual(FREEZE_AT.objectBytes);
    expect(changes).toBeLessThan(FREEZE_AT.patched / 2);
  });
});

describe('an own directory', () => {
  it('is found again by its name', () => {
    const { tree } = liveTree(['a/b']);
    const dir = tree.own(tree.root, fromLatin1('a'));
    expect(tree.lookup(tree.root, fromLatin1('a'))).toBe(dir);
    expect(dir instanceof OwnDirectory && isDirectory(dir.entry)).toBe(true);
  });
});

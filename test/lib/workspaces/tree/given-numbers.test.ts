import { describe, expect, it } from 'vitest';
import { fromLatin1 } from '../../../../lib/byte-string.ts';
import { patchDirectory } from '../../../../lib/trees/directory/patch-directory.ts';
import type { DirectoryEntry } from '../../../../lib/trees/format/entry.ts';
import { fileKey, type Key, NO_KEY, slotKey } from '../../../../lib/trees/format/keys.ts';
import { setData } from '../../../../lib/workspaces/tree/changes/contents.ts';
import { put } from '../../../../lib/workspaces/tree/changes/names.ts';
import { thaw } from '../../../../lib/workspaces/tree/changes/thaw.ts';
import { swap } from '../../../../lib/workspaces/tree/exchange/follow-head.ts';
import { freeze } from '../../../../lib/workspaces/tree/freeze.ts';
import { GivenNumbers } from '../../../../lib/workspaces/tree/given-numbers.ts';
import { InodeNumbers } from '../../../../lib/workspaces/tree/inode-numbers.ts';
import { withEntry } from '../../trees/edit.ts';
import { directoryEntry, fileEntry } from '../../trees/random.ts';
import { at, type Live, liveTree, TIME } from './live.ts';
import { MemoryJournal } from './memory-journal.ts';

const OWN = 7n;
const slot = (sequence: number, store = OWN): Key => slotKey({ store, class: 0, slot: 1, sequence, birth: 1, crc: 0 });
const dataFile = (number: number, store = OWN): Key => fileKey({ store, number, birth: 1, version: 0 });
const file = (name: string, ino: number, key: Key) => ({ ...fileEntry(name, 'some', { ino }), key });

/** The next numbers of a server that replays a journal. Its root was written when all were 10. */
function next({ memory }: Live, { records }: MemoryJournal): { sequence: number; number: number; ino: number } {
  const inodes = new InodeNumbers(() => ({ next: 0, end: 1 }), [{ next: 10, end: 1000 }]);
  const given = new GivenNumbers({ store: OWN, nextSequence: 10, nextNumber: 10 }, inodes);
  for (const record of records) for (const _ of given.noting(memory, record));
  return { sequence: given.nextSequence, number: given.nextNumber, ino: inodes.next() };
}

describe('the numbers that a server gives after a restart', () => {
  it('are those of the root if no record has given any', () => {
    const live = liveTree(['a']);
    setData(live.tree, thaw(live.tree, ...at(live.tree, 'a')), { key: NO_KEY, size: 0, holes: undefined }, TIME);
    expect(next(live, live.journal)).toEqual({ sequence: 10, number: 10, ino: 10 });
  });

  it('are above those of new files and of contents since', () => {
    const live = liveTree(['a', 'b']);
    put(live.tree, ...at(live.tree, 'new'), file('', 20, slot(12)), TIME);
    for (const [path, key] of [
      ['a', slot(14)],
      ['b', dataFile(30)],
      ['a', slot(11)],
    ] as const)
      setData(live.tree, thaw(live.tree, ...at(live.tree, path)), { key, size: 4, holes: undefined }, TIME);
    expect(next(live, live.journal)).toEqual({ sequence: 15, number: 31, ino: 21 });
  });

  it('do not depend on contents in other stores', () => {
    const live = liveTree(['a']);
    put(live.tree, ...at(live.tree, 'b'), file('', 11, slot(99, 8n)), TIME);
    put(live.tree, ...at(live.tree, 'c'), file('', 11, dataFile(99, 8n)), TIME);
    expect(next(live, live.journal)).toMatchObject({ sequence: 10, number: 10 });
  });

  it('are above those of all that is in a directory that came as a whole', () => {
    const live = liveTree(['a']);
    const { memory, tree } = live;
    let made = directoryEntry('', { ino: 40 });
    for (const [path, entry] of [
      ['below', directoryEntry('', { ino: 41 })],
      ['below/x', file('', 42, slot(50))],
      ['y', file('', 43, dataFile(60))],
    ] as const)
      made = withEntry(memory, memory.placed, made, path, entry);
    put(tree, ...at(tree, 'whole'), made, TIME);
    expect(next(live, live.journal)).toEqual({ sequence: 51, number: 61, ino: 44 });
  });

  it('are above those of a tree that has taken the place of the frozen one', () => {
    const live = liveTree(['a/x', 'b']);
    const { memory, tree } = live;
    const journal = new MemoryJournal();
    freeze(tree, memory.placed, () => journal, false);
    const changes = [[fromLatin1('y'), file('y', 70, slot(80))]] as const;
    const below = { ...directoryEntry('c', { ino: 69 }), ...patchDirectory(memory, memory.placed, NO_KEY, changes) };
    const mine = withEntry(memory, memory.placed, tree.frozen, 'c', below) as DirectoryEntry;
    expect(swap(tree, tree.frozen.key, mine, tree.base)).toBe(true);
    expect(next(live, journal)).toEqual({ sequence: 81, number: 10, ino: 71 });
  });
});

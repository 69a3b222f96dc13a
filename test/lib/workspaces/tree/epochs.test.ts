import { describe, expect, it } from 'vitest';
import { fromLatin1 } from '../../../../lib/byte-string.ts';
import { fileKey, type Key, NO_KEY, slotKey } from '../../../../lib/trees/format/keys.ts';
import { Epochs, type NextEpochs } from '../../../../lib/workspaces/tree/epochs.ts';
import { freeze } from '../../../../lib/workspaces/tree/freeze.ts';
import type { JournalRecord } from '../../../../lib/workspaces/tree/journal/records.ts';
import { replaying } from '../../../../lib/workspaces/tree/journal/replay.ts';
import { keyOfBytes } from '../../trees/memory.ts';
import { fileEntry } from '../../trees/random.ts';
import { numbersAfter } from './disk/opened.ts';
import { liveTree, TIME } from './live.ts';
import { MemoryJournal } from './memory-journal.ts';

const slot = (birth: number, store = 7n) => slotKey({ store, class: 1, slot: 4, sequence: 9, birth, crc: 1 });
const STORE = slot(0).slice(1, 9);
const entryOf = (key: Key) => fileEntry('new', '12345', { ino: 50, key });

describe('contents', () => {
  it('belong to the sandbox alone if they were made after the last shared freeze', () => {
    const epochs = new Epochs(STORE, 1, 0);
    const before = slot(epochs.epoch);
    epochs.next(false);
    expect(epochs.mayChange(before)).toBe(true);
    epochs.next(true);
    const after = fileKey({ store: 7n, number: 3, birth: epochs.epoch, version: 2 });
    expect([before, after].map((key) => epochs.mayChange(key))).toEqual([false, true]);
  });

  it('that others have are theirs after a restart, too, from the root that the freeze wrote', () => {
    const live = liveTree(['file']);
    const frozen = slot(live.tree.epochs.epoch);
    let root: NextEpochs | undefined;
    const begin = (_: unknown, next: NextEpochs) => {
      root = next;
      return new MemoryJournal();
    };
    freeze(live.tree, live.memory.placed, begin, true);
    const { epoch, sharedEpoch } = root!;
    const epochs = new Epochs(STORE, epoch, sharedEpoch);
    expect([frozen, slot(epochs.epoch)].map((key) => epochs.mayChange(key))).toEqual([false, true]);
    expect([epoch, sharedEpoch]).toEqual([live.tree.epochs.epoch, live.tree.epochs.shared]);
  });

  it('that were made after a freeze whose root was lost are theirs who have the next one', () => {
    const { tree } = liveTree(['file']);
    const made = slot(tree.epochs.after(false).epoch);
    const journals: JournalRecord[][] = [
      [],
      [{ op: 'put', at: [0, fromLatin1('new')], entry: entryOf(made), time: TIME }],
    ];
    const given = numbersAfter({ store: 7n, nextSequence: 1, nextNumber: 1, numbers: [] });
    for (const _ of replaying(tree, journals, given));
    tree.epochs.next(true);
    expect(tree.epochs.mayChange(made)).toBe(false);
    expect(tree.epochs.mayChange(slot(tree.epochs.epoch))).toBe(true);
  });

  it('may not change while somebody reads the tree that was frozen before', () => {
    const epochs = new Epochs(STORE, 5, 0);
    const before = slot(epochs.epoch);
    epochs.next(false);
    const release = [epochs.pin(), epochs.pin()];
    expect([before, slot(epochs.epoch)].map((key) => epochs.mayChange(key))).toEqual([false, true]);
    release[0]!();
    expect(epochs.mayChange(before)).toBe(false);
    release[1]!();
    expect(epochs.mayChange(before)).toBe(true);
  });

  it('of a codebase and of other stores never change', () => {
    const epochs = new Epochs(STORE, 5, 0);
    expect([keyOfBytes('x'), NO_KEY, slot(5, 8n)].map((key) => epochs.mayChange(key))).toEqual([false, false, false]);
  });
});

import { describe, expect, it } from 'vitest';
import { fileKey, NO_KEY, slotKey } from '../../../../lib/trees/format/keys.ts';
import { Epochs } from '../../../../lib/workspaces/tree/epochs.ts';
import { keyOfBytes } from '../../trees/memory.ts';

const slot = (birth: number, store = 7n) => slotKey({ store, class: 1, slot: 4, sequence: 9, birth, crc: 1 });
const STORE = slot(0).slice(1, 9);

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

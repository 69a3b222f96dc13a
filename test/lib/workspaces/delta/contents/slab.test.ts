import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Slab } from '../../../../../lib/workspaces/delta/contents/slab.ts';
import { Inode } from '../../../../../lib/workspaces/delta/index/inode.ts';
import { InodeTable } from '../../../../../lib/workspaces/delta/index/inode-table.ts';

const SIZE = 4096;
const MIB = 1 << 20;

function makeSlab(): { slab: Slab; path: string } {
  const directory = mkdtempSync(join(tmpdir(), 'slab-test-'));
  const path = join(directory, 'layer', 'slab');
  const slab = new Slab(path, SIZE);
  onTestFinished(() => {
    slab.close();
    rmSync(directory, { recursive: true });
  });
  return { slab, path };
}

function inode(id: number): Inode {
  const never = { sec: 0, nsec: 0 };
  return new Inode(new InodeTable(), id, id, 0o100644, 0, 0, never, never, never);
}

/** Allocates slots and fills them. */
function fill(slab: Slab, count: number): number[] {
  return Array.from({ length: count }, (_, index) => {
    const slot = slab.allocate();
    slab.write(slot, 0, Buffer.alloc(SIZE, index));
    slab.assign(slot, inode(index));
    return slot;
  });
}

const sizeOf = (path: string) => statSync(path).size;

describe('a slab', () => {
  it('keeps the contents of each slot', () => {
    const { slab } = makeSlab();
    const [first, second] = fill(slab, 2) as [number, number];
    slab.write(second, 10, Buffer.from('text'));
    slab.zero(second, 0, 10);
    const into = Buffer.alloc(14);
    expect(slab.read(second, 0, into)).toBe(14);
    expect(into.toString('latin1')).toBe(`${'\0'.repeat(10)}text`);
    slab.read(first, 0, into);
    expect(into.every((byte) => byte === 0)).toBe(true);
  });

  it('reads less than requested at the end of the file', () => {
    const { slab, path } = makeSlab();
    slab.write(slab.allocate(), 0, Buffer.from('short'));
    expect(sizeOf(path)).toBe(5);
    expect(slab.read(0, 2, Buffer.alloc(10))).toBe(3);
    expect(slab.read(7, 0, Buffer.alloc(10))).toBe(0);
  });

  it('uses no disk space when it is empty', () => {
    const { slab, path } = makeSlab();
    const slots = fill(slab, 2);
    for (const slot of slots) slab.discard(slot);
    expect(sizeOf(path)).toBe(0);
    fill(slab, 1);
    expect(sizeOf(path)).toBe(SIZE);
  });

  it('frees space at its end in parts', () => {
    const { slab, path } = makeSlab();
    const slots = fill(slab, (2 * MIB) / SIZE + 10);
    for (const slot of slots.slice(5)) slab.release(slot, true);
    expect(sizeOf(path)).toBe(slots.length * SIZE);
    expect(slab.trim()).toBe(true);
    expect(sizeOf(path)).toBe(slots.length * SIZE - MIB);
    while (slab.trim());
    expect(sizeOf(path)).toBeLessThan(MIB + 5 * SIZE);
    for (const slot of slots.slice(0, 5)) slab.release(slot, true);
    while (slab.trim());
    expect(sizeOf(path)).toBe(0);
  });

  it('does not allocate a slot that a record on the disk may name', () => {
    const { slab, path } = makeSlab();
    const [held] = fill(slab, 1);
    slab.syncBegins();
    slab.release(held!, false);
    expect(slab.deferredCount).toBe(1);
    const other = slab.allocate();
    expect(other).not.toBe(held);
    slab.release(other, false);
    slab.close();
    expect(readFileSync(path)).toHaveLength(SIZE);
    slab.coverDeferred();
    slab.releaseCovered();
    expect(slab.allocate()).toBe(0);
  });

  it('reserves the slots of a journal in any order', () => {
    const { slab } = makeSlab();
    slab.assign(3, inode(3));
    slab.assign(1, inode(1));
    slab.loaded();
    expect([slab.allocate(), slab.allocate(), slab.allocate()].sort()).toEqual([0, 2, 4]);
  });

  it('selects its last contents for a move when it is mostly free', () => {
    const { slab } = makeSlab();
    slab.assign(1, inode(1));
    slab.assign((64 * MIB) / SIZE, inode(2));
    expect(slab.toMove?.id).toBe(2);
    slab.assign((17 * MIB) / SIZE, inode(3));
    slab.discard((64 * MIB) / SIZE);
    expect(slab.toMove?.id).toBe(3);
    slab.discard((17 * MIB) / SIZE);
    expect(slab.toMove).toBeUndefined();
  });
});

import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FifoPool } from '../../../../lib/runtime/executor/fifo-pool.ts';

describe('the pool of FIFOs', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'fifo-pool-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('serves the next call after its FIFOs were removed', async () => {
    const pool = new FifoPool(join(dir, 'pool'));
    await pool.place([join(dir, 'first')], undefined);
    for (const name of readdirSync(join(dir, 'pool'))) rmSync(join(dir, 'pool', name));
    const placed = join(dir, 'second');
    // Each refused call forgets one of the 63 removed FIFOs.
    await expect
      .poll(
        () =>
          pool.place([placed], undefined).then(
            () => lstatSync(placed).isFIFO(),
            () => false,
          ),
        { interval: 0 },
      )
      .toBe(true);
  });

  it('lets a bounded number of pipes be larger at a time, and none without a way to make them', () => {
    const grown: number[] = [];
    const { grow } = new FifoPool(join(dir, 'pool'), undefined, (fd) => void grown.push(fd));
    const closed = Array.from({ length: 70 }, (_, fd) => grow!(fd));
    expect(grown).toEqual(Array.from({ length: 64 }, (_, fd) => fd));
    closed[5]!();
    expect([grow!(100), grow!(101)].map((release) => typeof release)).toEqual(['function', 'undefined']);
    expect(grown.at(-1)).toBe(100);
    expect(new FifoPool(join(dir, 'other')).grow).toBeUndefined();
  });

  it('keeps a FIFO that could not be placed', async () => {
    const pool = new FifoPool(join(dir, 'pool'));
    await pool.place([join(dir, 'first')], undefined);
    const before = readdirSync(join(dir, 'pool')).length;
    await expect(pool.place([join(dir, 'absent', 'second')], undefined)).rejects.toThrow('ENOENT');
    expect(readdirSync(join(dir, 'pool'))).toHaveLength(before);
    await pool.place([join(dir, 'second')], undefined);
    expect(lstatSync(join(dir, 'second')).isFIFO()).toBe(true);
  });
});

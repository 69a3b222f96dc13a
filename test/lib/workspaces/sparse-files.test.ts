import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BackgroundCopy } from '../../../lib/workspaces/delta/contents/background-copy.ts';
import { copyInBackground } from '../../../lib/workspaces/delta/contents/background-copy.ts';
import { readDelta } from '../../../lib/workspaces/delta/index/read-delta.ts';
import { FrozenLayers } from '../../../lib/workspaces/delta/layers/frozen-layers.ts';
import type { WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';
import { outcome, Sandbox } from './sandbox.ts';

const BLOCK = 4096;
const GIB = 2 ** 30;
const MIB = 2 ** 20;

const block = (char = 'x') => char.repeat(BLOCK);

/** A sandbox with layers, whose contents are on the host below them. */
function sparse(options: Partial<WorkspaceSpec> = {}, startCopy?: (copy: BackgroundCopy) => void): Sandbox {
  const s = new Sandbox({}, options, startCopy && { startCopy });
  mkdirSync(join(s.home, 'layers'));
  s.goOn({ ...s.spec, layers: join(s.home, 'layers') });
  return s;
}

const usage = (s: Sandbox) => s.fs.usage(s.spec.id).bytes;

/** What the host stores in the data files of all layers. */
function stored(s: Sandbox): number {
  let bytes = 0;
  for (const path of readdirSync(s.spec.layers!, { recursive: true, encoding: 'utf8' })) {
    if (!/^[^/]+\/\d+\/\d+$/.test(path)) continue;
    const { size, blocks } = statSync(join(s.spec.layers!, path));
    bytes += Math.min(size, blocks * 512);
  }
  return bytes;
}

/** A file of the codebase with one block of data in the middle. */
function putSparse(s: Sandbox, path: string, size: number): void {
  const fd = openSync(join(s.spec.base, path), 'wx');
  ftruncateSync(fd, size);
  writeSync(fd, block('b'), Math.floor(size / 2 / BLOCK) * BLOCK);
  closeSync(fd);
}

describe('the quota of a sandbox', () => {
  it('counts nothing for a file that was only made longer', () => {
    const s = sparse({ maxBytes: MIB });
    s.create('x');
    expect(s.set('x', { size: 10 * GIB })).toMatchObject({ size: 10 * GIB, blocks: 0 });
    expect(usage(s)).toBe(0);
  });

  it('counts the blocks that are written to a file with holes, as stat(2) shows them', () => {
    const s = sparse();
    s.create('x');
    s.set('x', { size: 10 * GIB });
    for (let n = 0; n < 20; n++) s.write('x', block(), n * MIB);
    expect(usage(s)).toBe(20 * BLOCK);
    s.write('x', block('y'), 3 * MIB);
    expect(usage(s)).toBe(20 * BLOCK);
    expect(s.stat('x').blocks).toBe((20 * BLOCK) / 512);
  });

  it('counts what is stored when a write leaves a hole behind the end', () => {
    const s = sparse();
    s.create('x', 'x');
    s.write('x', 'y', 5 * GIB);
    expect([s.stat('x').size, usage(s)]).toEqual([5 * GIB + 1, 2 * BLOCK]);
  });

  it('counts a file in full once its holes are filled', () => {
    const s = sparse();
    s.create('x');
    s.set('x', { size: 100 * BLOCK });
    for (let n = 99; n >= 0; n--) s.write('x', block(), n * BLOCK);
    expect(usage(s)).toBe(100 * BLOCK);
    s.set('x', { size: 150_001 });
    expect(usage(s)).toBe(150_001);
  });

  it('refuses what would fill a hole beyond it, and permits to write over what is stored', () => {
    const s = sparse({ maxBytes: 10 * BLOCK });
    s.create('x');
    s.set('x', { size: GIB });
    for (let n = 0; n < 10; n++) s.write('x', block(), n * MIB);
    expect(outcome(() => s.write('x', 'y', 20 * MIB))).toBe('EDQUOT');
    expect(outcome(() => s.write('x', block('y'), 4 * MIB - BLOCK / 2))).toBe('EDQUOT');
    s.write('x', 'over', 4 * MIB + 5);
    expect(usage(s)).toBe(10 * BLOCK);
    expect(stored(s)).toBe(10 * BLOCK);
    s.set('x', { size: MIB });
    s.write('x', 'y', MIB);
    expect(usage(s)).toBe(2 * BLOCK);
  });

  it('is filled to the last block by writes into holes of many files', () => {
    const s = sparse({ maxBytes: 64 * BLOCK });
    for (let n = 0; n < 8; n++) {
      s.create(`f${n}`);
      s.set(`f${n}`, { size: GIB });
    }
    let written = 0;
    for (let n = 0; n < 100; n++) {
      if (outcome(() => s.write(`f${n % 8}`, block(), n * MIB)) === 'ok') written++;
    }
    expect([written, usage(s), stored(s)]).toEqual([64, 64 * BLOCK, 64 * BLOCK]);
  });

  it('counts no more when a file with holes is removed, also while it is open', () => {
    const s = sparse();
    const { nodeid } = s.create('x');
    s.set('x', { size: GIB });
    s.write('x', block());
    s.unlink('x');
    s.fs.write(s.caller, nodeid, MIB, Buffer.from(block()), false);
    expect(usage(s)).toBe(2 * BLOCK);
    s.forgetAll();
    expect(usage(s)).toBe(0);
  });

  it('includes what a checkpoint retains of a file with holes, not the holes', () => {
    const s = sparse({ maxBytes: MIB });
    s.create('x');
    s.set('x', { size: 3 * MIB });
    for (let n = 0; n < 3; n++) s.write('x', block(), n * MIB);
    s.spec = { ...s.spec, checkpoints: [s.fs.freeze(s.spec.id).layer] };
    s.fs.setCheckpoints(s.spec.id, s.spec.checkpoints!);
    const before = usage(s);
    s.write('x', block('y'), MIB);
    expect(usage(s) - before).toBe(3 * BLOCK);
    expect(stored(s)).toBe(6 * BLOCK);
  });
});

it('a file has at most 16 TiB', () => {
  const s = sparse();
  s.create('x');
  expect(outcome(() => s.set('x', { size: 2 ** 44 }))).toBe('EFBIG');
  expect(outcome(() => s.write('x', 'x', 2 ** 44))).toBe('EFBIG');
});

describe('a copy of a file of the codebase keeps its holes', () => {
  it.each([MIB, 100 * MIB])('of %i bytes', (size) => {
    const s = sparse({ maxBytes: 3 * BLOCK });
    putSparse(s, 'x', size);
    expect(s.stat('x').blocks).toBe(8);
    s.write('x', 'mine');
    expect([usage(s), stored(s)]).toEqual([2 * BLOCK, 2 * BLOCK]);
    expect(s.stat('x')).toMatchObject({ size, blocks: 16 });
    const into = Buffer.alloc(4);
    s.fs.read(s.caller, s.id('x'), Math.floor(size / 2), into);
    expect(into.toString()).toBe('bbbb');
  });

  it('of terabytes, by another thread, in no time', async () => {
    const copies: BackgroundCopy[] = [];
    const s = sparse({ maxBytes: 3 * BLOCK }, (copy) => void copies.push(copy));
    putSparse(s, 'x', 10 * 2 ** 40);
    expect(() => s.write('x', 'mine')).toThrow();
    const [copy] = copies;
    s.fs.copied(copy!.id, await copyInBackground(copy!));
    s.write('x', 'mine');
    expect([usage(s), stored(s)]).toEqual([2 * BLOCK, 2 * BLOCK]);
  });

  it('fails with the errno of the disk', async () => {
    const s = sparse();
    putSparse(s, 'x', 10 * MIB);
    const copy = { id: 1, from: join(s.spec.base, 'x'), to: '/dev/full', isSparse: true };
    expect(await copyInBackground(copy)).toBe(28);
  });
});

const STEP = fc.oneof(
  fc.record({
    act: fc.constant('truncate' as const),
    file: fc.nat(3),
    at: fc.constantFrom(0, 1, 70_000, 40 * BLOCK, 3 * MIB, 3 * MIB + 1, 9 * MIB, GIB),
  }),
  fc.record({
    act: fc.constant('write' as const),
    file: fc.nat(3),
    at: fc.oneof(fc.nat(80 * BLOCK), fc.nat(GIB)),
    length: fc.constantFrom(1, BLOCK, 100_000),
  }),
  fc.record({ act: fc.constantFrom('unlink' as const, 'create' as const), file: fc.nat(3) }),
  fc.record({ act: fc.constantFrom('restart' as const, 'freeze' as const) }),
);

describe('any sequence of truncations and writes', () => {
  const QUOTA = 200 * BLOCK;

  it('counts as stat(2) does, is never above the quota, and counts the same after a kill', () => {
    fc.assert(
      fc.property(fc.array(STEP, { minLength: 5, maxLength: 60 }), (steps) => {
        const s = sparse({ maxBytes: QUOTA });
        try {
          let layers = 0;
          for (const step of steps) {
            if (step.act === 'truncate') outcome(() => s.set(`f${step.file}`, { size: step.at }));
            if (step.act === 'write') outcome(() => s.write(`f${step.file}`, 'x'.repeat(step.length), step.at));
            if (step.act === 'create') outcome(() => s.create(`f${step.file}`));
            if (step.act === 'unlink') outcome(() => s.unlink(`f${step.file}`));
            s.forgetAll();
            if (step.act === 'freeze' && layers++ < 3) s.fs.freeze(s.spec.id);
            const before = usage(s);
            if (step.act === 'restart') s.restart();
            expect(usage(s)).toBe(before);
            expect([shown(s), onDisk(s)]).toEqual([before, before]);
            expect(before).toBeLessThanOrEqual(QUOTA);
          }
        } finally {
          s.remove();
        }
      }),
      { numRuns: Number(process.env.PADDOCK_MODEL_RUNS ?? 60) },
    );
  });

  /** What the sandbox shows as stored. */
  function shown(s: Sandbox): number {
    const attrs = s.list('').map((name) => s.stat(name));
    return attrs.reduce((sum, { size, blocks }) => sum + Math.min(size, blocks * 512), 0);
  }

  /** Of small contents, which are in slots, the size. */
  function onDisk({ spec }: Sandbox): number {
    let bytes = 0;
    for (const inode of readDelta(spec.delta, spec.layers!, new FrozenLayers())?.table.found() ?? []) {
      if (inode.isDirectory) continue;
      const { layer, id } = inode.requireData();
      const stat = inode.hasFile ? statSync(join(spec.layers!, layer, `${Math.floor(id / 1024)}`, `${id}`)) : inode;
      bytes += 'blocks' in stat ? Math.min(stat.size, stat.blocks * 512) : stat.size;
    }
    return bytes;
  }
});

it('a truncation of a file in the codebase keeps its holes', () => {
  const s = sparse({ maxBytes: 3 * BLOCK });
  putSparse(s, 'x', 10 * MIB);
  truncateSync(join(s.spec.base, 'x'), 11 * MIB);
  s.set('x', { size: GIB });
  expect([usage(s), s.stat('x').size]).toEqual([BLOCK, GIB]);
});

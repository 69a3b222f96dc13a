import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ROOT_PATH } from '../../../lib/byte-string.ts';
import type { Inode } from '../../../lib/workspaces/delta/index/inode.ts';
import { readDelta } from '../../../lib/workspaces/delta/index/read-delta.ts';
import { FrozenLayers } from '../../../lib/workspaces/delta/layers/frozen-layers.ts';
import type { WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';
import { outcome, Sandbox } from './sandbox.ts';

/** Sizes of contents in a slot, and in a data file. */
const SMALL = 1000;
const LARGE = 100_000;

const text = (size: number, char = 'x') => char.repeat(size);

/** A sandbox with checkpoints that are managed as by the server. */
class Checkpointed extends Sandbox {
  readonly checkpoints = new Map<string, string>();

  constructor(base: Record<string, string> = {}, options: Partial<WorkspaceSpec> = {}) {
    super(base, options);
    mkdirSync(join(this.home, 'layers'));
    const ownerBytes = { owner: new BigInt64Array(2), own: new BigInt64Array(1) };
    this.goOn({ ...this.spec, layers: join(this.home, 'layers'), ownerBytes });
  }

  checkpoint(name: string): void {
    this.checkpoints.set(name, this.fs.freeze(this.spec.id, true).layer);
    this.#tell();
  }

  deleteCheckpoint(name: string): void {
    this.checkpoints.delete(name);
    this.#tell();
  }

  rollback(name: string): void {
    this.fs.rollback(this.spec.id, this.checkpoints.get(name)!);
  }

  /** Returns the usage that is not of the present state. */
  get retained(): { bytes: number; files: number } {
    const { bytes, files } = this.fs.usage(this.spec.id);
    expect(Number(this.spec.ownerBytes!.own[0])).toBe(bytes);
    // A freeze reports the usage of the present state; its layer is not a checkpoint here.
    const present = this.present();
    return { bytes: bytes - present.bytes, files: files - present.files };
  }

  present(): { bytes: number; files: number } {
    const { delta, layers } = this.spec;
    const read = readDelta(delta, layers!, new FrozenLayers());
    const inodes = read === undefined ? [] : [...read.table.found()];
    const bytes = inodes.reduce((sum, inode) => sum + (inode.isDirectory ? 0 : inode.stored), 0);
    return { bytes, files: inodes.length };
  }

  #tell(): void {
    this.spec = { ...this.spec, checkpoints: [...this.checkpoints.values()] };
    this.fs.setCheckpoints(this.spec.id, this.spec.checkpoints!);
  }

  /** Removes layers that neither the sandbox nor a checkpoint needs, as the server does. */
  reclaim(): void {
    const { delta, layers } = this.spec;
    const frozen = new FrozenLayers();
    const read = readDelta(delta, layers!, frozen);
    const needed = new Set(read === undefined ? [] : [read.top, ...read.below]);
    for (const layer of this.checkpoints.values()) {
      for (const each of frozen.acquire(layers!, layer).layers) needed.add(each);
    }
    for (const layer of readdirSync(layers!)) {
      if (!needed.has(layer)) rmSync(join(layers!, layer), { recursive: true });
    }
    this.fs.layersRemoved();
  }
}

/**
 * What lies in the layers that the checkpoints need and is none of the present state: data files and indexes as the disk
 * has them, contents in slabs as the index of their layer has them.
 */
function onDisk({ spec, checkpoints }: Checkpointed): { bytes: number; files: number } {
  const root = spec.layers!;
  const frozen = new FrozenLayers();
  const needed = new Set([...checkpoints.values()].flatMap((layer) => frozen.acquire(root, layer).layers));
  const has = ({ data, hasFile }: Inode) => data !== undefined && (hasFile || data.slot >= 0);
  const sum = { bytes: 0, files: 0 };
  for (const layer of needed) {
    sum.bytes += statSync(join(root, layer, 'index')).size;
    const { table, orphans } = frozen.acquire(root, layer);
    const nameless = [...orphans];
    for (const inode of table.found()) {
      if (nameless.includes(inode.id) || !has(inode) || inode.data!.layer !== layer || inode.hasFile) continue;
      sum.bytes += inode.size;
      sum.files++;
    }
    for (const path of readdirSync(join(root, layer), { recursive: true, encoding: 'utf8' })) {
      if (!/^\d+\/\d+$/.test(path)) continue;
      const { size, blocks } = statSync(join(root, layer, path));
      sum.bytes += Math.min(size, blocks * 512);
      sum.files++;
    }
  }
  for (const inode of readDelta(spec.delta, root, frozen)?.table.found() ?? []) {
    if (!has(inode) || !needed.has(inode.data!.layer)) continue;
    sum.bytes -= inode.stored;
    sum.files--;
  }
  return sum;
}

const NAMES = ['a', 'b', 'd/c', 'd/e'];
const name = fc.constantFrom(...NAMES);
const size = fc.constantFrom(0, 10, SMALL, 60_000, 70_000, LARGE);
const written = size.filter((bytes) => bytes > 0);
const checkpoint = fc.constantFrom('1', '2', '3');

const STEP = fc.oneof(
  fc.record({ act: fc.constant('create' as const), name, size }),
  fc.record({ act: fc.constant('write' as const), name, size: written, offset: fc.constantFrom(0, 5, 80_000) }),
  fc.record({ act: fc.constant('truncate' as const), name, size: fc.oneof(size, fc.constant(2 ** 33)) }),
  fc.record({ act: fc.constant('unlink' as const), name }),
  fc.record({ act: fc.constant('rename' as const), name, to: name }),
  fc.record({ act: fc.constant('link' as const), name, to: name }),
  fc.record({ act: fc.constant('mode' as const), name }),
  fc.record({ act: fc.constant('checkpoint' as const), checkpoint }),
  fc.record({ act: fc.constant('checkpoint' as const), checkpoint }),
  fc.record({ act: fc.constant('delete' as const), checkpoint }),
  fc.record({ act: fc.constant('rollback' as const), checkpoint }),
  fc.record({ act: fc.constantFrom('restart' as const, 'reclaim' as const, 'forget' as const, 'discard' as const) }),
);
type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;

function take(s: Checkpointed, step: Step): void {
  switch (step.act) {
    case 'create':
      s.create(step.name, text(step.size));
      break;
    case 'write':
      s.write(step.name, text(step.size, 'y'), step.offset);
      break;
    case 'truncate':
      s.set(step.name, { size: step.size });
      break;
    case 'unlink':
      s.unlink(step.name);
      break;
    case 'rename':
      s.rename(step.name, step.to);
      break;
    case 'link':
      s.link(step.name, step.to);
      break;
    case 'mode':
      s.set(step.name, { mode: 0o600 });
      break;
    case 'checkpoint':
      if (!s.checkpoints.has(step.checkpoint)) s.checkpoint(step.checkpoint);
      break;
    case 'delete':
      s.deleteCheckpoint(step.checkpoint);
      break;
    case 'rollback':
      if (s.checkpoints.has(step.checkpoint)) s.rollback(step.checkpoint);
      break;
    case 'restart':
      s.restart();
      break;
    case 'reclaim':
      s.reclaim();
      break;
    case 'forget':
      s.forgetAll();
      break;
    case 'discard':
      s.fs.revert(s.spec.id, [ROOT_PATH]);
      break;
  }
}

describe('the retained usage of a sandbox', () => {
  it('equals the disk space of its checkpoints, after any sequence and after a restart', () => {
    const runs = Number(process.env.PADDOCK_MODEL_RUNS ?? 15);
    fc.assert(
      fc.property(fc.array(STEP, { minLength: 5, maxLength: 40 }), (steps) => {
        const s = new Checkpointed({ b: text(SMALL), 'd/e': text(70_000) });
        try {
          for (const step of steps) {
            outcome(() => take(s, step));
            // A file that was removed while the kernel knows it exists until it is forgotten.
            s.forgetAll();
            expect(s.retained).toEqual(onDisk(s));
          }
          const { retained } = s;
          s.restart();
          expect(s.retained).toEqual(retained);
        } finally {
          s.remove();
        }
      }),
      { numRuns: runs },
    );
  });
});

describe('the quota of a sandbox with checkpoints', () => {
  const limited = (options: Partial<WorkspaceSpec> = {}) => new Checkpointed({}, { maxBytes: 1_000_000, ...options });

  it.each([SMALL, LARGE])('limits overwrites of %i bytes after each of several checkpoints', (bytes) => {
    // The indexes count too.
    const s = limited({ maxBytes: bytes * 3 + 5000 });
    s.create('f', text(bytes));
    s.checkpoint('1');
    s.write('f', text(bytes, 'y'));
    s.checkpoint('2');
    s.write('f', text(bytes, 'z'));
    expect(outcome(() => s.create('g', text(6000)))).toBe('EDQUOT');
    s.checkpoint('3');
    expect(outcome(() => s.write('f', text(bytes + 4000, 'w')))).toBe('EDQUOT');
    expect(s.read('f') === text(bytes, 'z')).toBe(true);
    s.rollback('1');
    expect(s.read('f') === text(bytes)).toBe(true);
    expect(outcome(() => s.write('f', text(bytes + 4000, 'w')))).toBe('EDQUOT');
    for (const name of ['3', '2']) s.deleteCheckpoint(name);
    s.write('f', text(bytes, 'w'));
    expect(s.read('f') === text(bytes, 'w')).toBe(true);
  });

  it('allows a sandbox above it every operation that frees space', () => {
    const s = new Checkpointed();
    for (const name of ['f', 'g', 'h', 'i']) s.create(name, text(LARGE));
    s.checkpoint('1');
    for (const name of ['f', 'g', 'h', 'i']) s.write(name, text(LARGE, 'y'));
    s.goOn({ ...s.spec, maxBytes: LARGE });
    const { bytes } = s.fs.usage('sb_1');
    expect(outcome(() => s.create('new', 'x'))).toBe('EDQUOT');
    expect(() => s.checkpoint('2')).toThrow(
      new RegExp(
        `^with this checkpoint the files, HOME and checkpoints of sandbox sb_1 would be ${bytes}\\d* bytes|delete`,
      ),
    );
    expect(s.checkpoints.size).toBe(1);
    s.set('f', { size: 10 });
    s.set('g', { size: 0 });
    s.unlink('h');
    s.rename('i', 'g');
    s.rollback('1');
    expect(s.read('h') === text(LARGE)).toBe(true);
    s.set('f', { size: 10 });
    s.fs.revert('sb_1', [ROOT_PATH]);
    expect(s.list('')).toEqual([]);
    expect(outcome(() => s.create('new', 'x'))).toBe('EDQUOT');
    s.deleteCheckpoint('1');
    s.create('newer', 'x');
    s.forgetAll();
    expect(s.retained).toEqual({ bytes: 0, files: 0 });
  });

  it('refuses a checkpoint above it with one sentence that names the settings', () => {
    const s = limited({ maxBytes: 2 * LARGE + 3000, maxFiles: 10 });
    s.create('f', text(LARGE));
    s.checkpoint('1');
    s.write('f', text(LARGE - 2000, 'y'));
    // A truncation is allowed, and the checkpoint retains the removed part.
    s.checkpoint('2');
    s.set('f', { size: 5000 });
    expect(() => s.checkpoint('3')).toThrow(
      /^with this checkpoint the files, HOME and checkpoints of sandbox sb_1 would be \d+ bytes in \d files, and it may have 203000 bytes \(sandbox.max_delta_bytes\) in 10 files \(sandbox.max_delta_files\): delete checkpoints or files$/,
    );
    s.deleteCheckpoint('1');
    s.checkpoint('3');
  });

  it('includes the files that only checkpoints have', () => {
    const s = limited({ maxFiles: 6 });
    s.create('a', 'a');
    s.create('b', 'b');
    s.checkpoint('1');
    for (const name of ['a', 'b']) s.unlink(name);
    s.forgetAll();
    expect(s.retained.files).toBe(2);
    for (const name of ['c', 'd', 'e']) s.create(name, name);
    expect(outcome(() => s.create('f', 'f'))).toBe('EDQUOT');
    s.deleteCheckpoint('1');
    s.create('f', 'f');
  });

  it('is shown by statfs including the contents of checkpoints', () => {
    const s = limited({ maxBytes: 1 << 20, maxFiles: 100 });
    s.create('f', text(LARGE));
    s.checkpoint('1');
    s.unlink('f');
    s.forgetAll();
    const { bytes, files } = s.fs.usage('sb_1');
    expect(bytes).toBeGreaterThan(LARGE);
    const shown = s.fs.statfs(s.caller, s.id(''));
    expect(shown.blocks - shown.bfree).toBe(Math.ceil(bytes / shown.bsize));
    expect(shown.files - shown.ffree).toBe(files);
  });

  it('is freed at once of contents that only a deleted checkpoint needed', () => {
    const s = limited();
    s.create('small', text(SMALL));
    s.create('f', text(LARGE));
    s.checkpoint('1');
    s.write('f', text(LARGE, 'y'));
    s.write('small', text(SMALL, 'y'));
    s.checkpoint('2');
    s.write('f', text(LARGE, 'z'));
    expect(s.retained.bytes).toBeGreaterThan(2 * LARGE);
    s.deleteCheckpoint('1');
    expect(s.retained.bytes).toBeLessThan(1.1 * LARGE);
    s.reclaim();
    expect(s.retained).toEqual(onDisk(s));
    s.rollback('2');
    expect(s.read('small') + s.read('f') === text(SMALL, 'y') + text(LARGE, 'y')).toBe(true);
  });

  it('includes an index in proportion to the changed items, however often they were written', () => {
    const s = limited();
    s.create('f');
    for (let n = 0; n < 3000; n++) s.write('f', 'x', n);
    s.checkpoint('1');
    expect(s.retained.bytes).toBeLessThan(20_000);
  });

  it('is the same if no layer has a summary, as after an older server', () => {
    const s = limited();
    for (const [n, name] of ['1', '2', '3'].entries()) {
      s.create(`f${n}`, text(LARGE));
      s.create(`s${n}`, text(SMALL));
      s.checkpoint(name);
      s.unlink(`f${n}`);
      s.write(`s${n}`, 'other');
    }
    s.forgetAll();
    s.rollback('2');
    s.unlink('s0');
    s.forgetAll();
    const { retained } = s;
    const { layers } = s.spec;
    for (const layer of readdirSync(layers!)) rmSync(join(layers!, layer, 'summary'), { force: true });
    s.restart();
    expect(s.retained).toEqual(retained);
    s.restart();
    expect(s.retained).toEqual(retained);
  });

  it('does not block a sandbox with a damaged checkpoint', () => {
    const s = limited();
    s.create('f', text(LARGE));
    s.checkpoint('1');
    s.create('g', text(LARGE));
    s.checkpoint('2');
    const [first] = s.checkpoints.values();
    s.rollback('1');
    s.unlink('f');
    for (const layer of s.checkpoints.values()) rmSync(join(s.spec.layers!, layer, 'summary'));
    rmSync(join(s.spec.layers!, s.checkpoints.get('2')!, 'index'));
    s.restart();
    expect(first).toBeDefined();
    s.forgetAll();
    expect(s.retained.bytes).toBeGreaterThan(LARGE);
    s.create('new', 'x');
  });
});

describe('a fork', () => {
  /** Creates another sandbox with the same layers, and its own checkpoints. */
  function fork(s: Checkpointed, layer: string): void {
    s.checkpoints.clear();
    const { checkpoints: _, ...spec } = s.spec;
    s.goOn({ ...spec, id: 'sb_2', delta: join(s.home, 'fork'), origin: layer });
  }

  it('is charged for its own state, and its parent for nothing that only forks need', () => {
    const s = new Checkpointed();
    s.create('f', text(LARGE));
    const { layer } = s.fs.freeze('sb_1');
    s.write('f', text(LARGE, 'y'));
    expect(s.fs.usage('sb_1')).toEqual({ bytes: LARGE, files: 2 });
    fork(s, layer);
    expect(s.fs.usage('sb_2')).toEqual({ bytes: LARGE, files: 2 });
    s.write('f', text(LARGE, 'z'));
    expect(s.fs.usage('sb_2')).toEqual({ bytes: LARGE, files: 2 });
  });

  it('is charged for the part of its checkpoints in its parent’s layers, and not for the parent’s checkpoints', () => {
    const s = new Checkpointed();
    s.create('old', text(LARGE));
    s.checkpoint('1');
    s.unlink('old');
    s.create('f', text(LARGE));
    s.create('g', text(LARGE));
    s.forgetAll();
    const { layer } = s.fs.freeze('sb_1');
    fork(s, layer);
    expect(s.fs.usage('sb_2')).toEqual({ bytes: 2 * LARGE, files: 3 });
    s.create('own', 'x');
    s.checkpoint('1');
    const { bytes } = s.fs.usage('sb_2');
    s.write('f', text(LARGE, 'y'));
    s.checkpoint('2');
    s.unlink('g');
    s.forgetAll();
    const after = s.fs.usage('sb_2');
    expect(after.bytes - bytes).toBeGreaterThanOrEqual(LARGE);
    expect(after.bytes - bytes).toBeLessThan(1.1 * LARGE);
    s.restart();
    expect(s.fs.usage('sb_2')).toEqual(after);
    for (const name of ['1', '2']) s.deleteCheckpoint(name);
    expect(s.fs.usage('sb_2').bytes).toBe(LARGE + 1);
  });

  it('is limited by its quota when it overwrites files that its checkpoint has in its parent’s layers', () => {
    const s = new Checkpointed();
    s.create('f', text(LARGE));
    const { layer } = s.fs.freeze('sb_1');
    fork(s, layer);
    s.goOn({ ...s.spec, maxBytes: 1.5 * LARGE });
    s.create('own', 'x');
    s.checkpoint('1');
    expect(outcome(() => s.write('f', text(LARGE, 'y')))).toBe('EDQUOT');
    s.deleteCheckpoint('1');
    s.write('f', text(LARGE, 'y'));
  });
});

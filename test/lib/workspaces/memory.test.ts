import { mkdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { EDQUOT } from '../../../lib/linux/errno.ts';
import { MemoryBudget, type MemoryHolder } from '../../../lib/workspaces/memory-budget.ts';
import { outcome, Sandbox } from './sandbox.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Creates entries until one is refused. Returns their number. */
function fill(make: (name: string) => void, most = 100_000): { made: number; refused: string } {
  let made = 0;
  const refused = outcome(() => {
    for (; made < most; made++) make(`n${made}`);
  });
  return { made, refused };
}

function heapUsed(): number {
  setFlagsFromString('--expose_gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

describe('the memory for the names of a sandbox', () => {
  it('is limited, including link targets, also after a restart and a freeze', () => {
    const s = new Sandbox({ file: 'f' }, { maxIndexBytes: MIB });
    const target = 't'.repeat(4000);
    const { made, refused } = fill((name) => s.symlink(target, name));
    expect(refused).toBe('EDQUOT');
    expect(made).toBeGreaterThan(150);
    expect(made).toBeLessThan(MIB / 4000);
    s.fs.freeze('sb_1');
    expect(outcome(() => s.symlink(target, 'frozen'))).toBe('EDQUOT');
    s.restart();
    // The kernel's nodes counted too.
    const more = fill((name) => s.symlink(target, `more-${name}`));
    expect(more.refused).toBe('EDQUOT');
    expect(made + more.made).toBeLessThan(MIB / 4000);
    s.unlink('file');
    expect(s.fs.revert('sb_1', [ROOT_PATH])).toBe(made + more.made + 1);
    s.symlink(target, 'another');
  });

  it('is freed by a rollback, including that of later checkpoints', () => {
    const s = new Sandbox({}, {}, { maxMemory: 2 * MIB });
    mkdirSync(`${s.home}/layers`);
    s.goOn({ ...s.spec, layers: `${s.home}/layers` });
    // A sandbox above its equal part is refused more.
    s.fs.attach({ ...s.spec, id: 'sb_2', delta: `${s.spec.delta}-2` });
    s.fs.usage('sb_2');
    s.create('f');
    const { layer } = s.fs.freeze('sb_1');
    for (let round = 0; round < 3; round++) {
      expect(fill((name) => s.symlink('t'.repeat(4000), name), 300)).toEqual({ made: 300, refused: 'ok' });
      s.fs.freeze('sb_1');
      s.fs.rollback('sb_1', layer);
      s.forgetAll();
    }
    s.fs.detach('sb_2');
  });

  it('is estimated close to the growth of the heap', () => {
    const s = new Sandbox({}, { maxIndexBytes: 8 * MIB });
    const dir = s.mkdir('d').nodeid;
    const before = heapUsed();
    const { made, refused } = fill((name) => {
      const { nodeid } = s.fs.create(s.caller, dir, fromText(name), 0o644, 0);
      s.fs.forget(nodeid, 1);
    });
    const grown = heapUsed() - before;
    expect(refused).toBe('EDQUOT');
    expect(grown / made).toBeLessThan(400);
    expect(grown).toBeLessThan(1.3 * 8 * MIB);
    expect(made).toBeGreaterThan((8 * MIB) / 430);
  });

  it('allows the removal of names when it is used up', () => {
    const base = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`base${n}`, '']));
    const s = new Sandbox(base, { maxIndexBytes: 256 * KIB });
    expect(fill((name) => s.create(name)).refused).toBe('EDQUOT');
    for (const name of Object.keys(base)) s.unlink(name);
    expect(outcome(() => s.fs.statfs(s.caller, s.id('')))).toBe('ok');
  });
});

describe('the memory for the kernel’s nodes of a sandbox', () => {
  it('is reclaimed if it is large, and new nodes are refused otherwise', () => {
    const names = Array.from({ length: 1200 }, (_, n) => `f${n}`);
    const s = new Sandbox(Object.fromEntries(names.map((name) => [name, ''])), { maxIndexBytes: 256 * KIB });
    const known = fill((name) => void s.id(name.replace('n', 'f')), 1200);
    expect(known.refused).toBe('EDQUOT');
    // A kernel that only has to revalidate a name keeps its node.
    const told = new Set(s.notices.dropped.map((entry) => entry.split('/')[1]));
    expect(told.size).toBeGreaterThan(names.length / 8);
    // Behaves like a notified kernel.
    s.forgetAll();
    for (const name of names.slice(0, 400)) s.id(name);
  });
});

describe('the memory of all sandboxes together', () => {
  const holder = (memory: number): MemoryHolder => ({ memory, ownMemory: memory, maxMemory: 0 });

  it('is refused to sandboxes above their share when it is used up', () => {
    const [small, large] = [holder(10), holder(80)];
    const budget = new MemoryBudget(100, () => 5);
    for (const each of [small, large]) budget.add(each);
    budget.claim(large, 5, false);
    expect(() => budget.claim(large, 6, false)).toThrow(EDQUOT);
    budget.claim(small, 40, false);
    budget.delete(small);
    budget.claim(large, 15, false);
  });
});

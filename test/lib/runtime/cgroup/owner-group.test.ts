import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CgroupTree } from '../../../../lib/runtime/cgroup/tree.ts';
import type { OwnerResources } from '../../../../lib/runtime/runtime.ts';
import { runtimeCgroups, until, useBwrap } from '../bwrap/fixture.ts';
import { RESOURCES, run } from '../run.ts';

const bwrap = useBwrap();
const MIB = 2 ** 20;
const owner = (limits: Partial<OwnerResources>): OwnerResources => ({
  group: 'owner-a',
  memory_bytes: 0,
  cpu_quota: 0,
  ...limits,
});
const launch = (resources: OwnerResources) => bwrap.runtime.launch({ ...bwrap.spec(), owner: resources });

/** Fills a buffer of memory, and prints a line once it has it. */
const filling = (mib: number) => `dd if=/dev/zero of=/dev/null bs=${mib}M count=1 2>/dev/null && echo filled`;

it('two sandboxes of an owner share one limit of memory', async () => {
  const limits = owner({ memory_bytes: 64 * MIB });
  const [one, two] = [await launch(limits), await launch(limits)];
  const other = await launch({ ...limits, group: 'owner-b' });
  try {
    const abort = new AbortController();
    const holding = 'dd if=/dev/zero bs=24M count=1 2>/dev/null | sleep 300';
    const held = run(one, holding, { signal: abort.signal, timeoutMs: 300_000 });
    const dirs = runtimeCgroups(bwrap.stateDir, 'owner-a');
    const files = dirs.flatMap((dir) => ['memory.current', 'memory.usage_in_bytes'].map((name) => join(dir, name)));
    const usage = () => Math.max(...files.filter(existsSync).map((file) => Number(readFileSync(file, 'latin1'))));
    await until('the first sandbox has its memory', () => usage() > 24 * MIB);
    const killed = await run(two, filling(48));
    expect(killed.stdout).toBe('');
    expect(killed.stderr).toContain(`the limit of ${64 * MIB} bytes for all sandboxes of its owner was reached`);
    // Another owner has limits of its own.
    expect((await run(other, filling(48))).stdout).toBe('filled\n');
    abort.abort();
    await held;
    expect((await run(two, filling(48))).stdout).toBe('filled\n');
  } finally {
    await Promise.all([one, two, other].map((sandbox) => sandbox.stop()));
  }
  expect(runtimeCgroups(bwrap.stateDir, 'owner-a')).toEqual([]);
});

it('new limits of an owner are written at the next start, to the cgroups that its sandboxes are in', () => {
  const tree = new CgroupTree(`test-owner-${process.pid}`);
  tree.open();
  try {
    const valuesIn = (name: string) => {
      const roots = ['memory', 'cpu', ''].map((controller) => join('/sys/fs/cgroup', controller));
      const dirs = roots.map((root) => join(root, `paddock-test-owner-${process.pid}`, 'owner-a', name));
      return dirs.filter(existsSync).map((file) => readFileSync(file, 'latin1').trim());
    };
    const quota = () => [...valuesIn('cpu.cfs_quota_us'), ...valuesIn('cpu.max').map((text) => text.split(' ')[0])];
    const memory = () => [...valuesIn('memory.limit_in_bytes'), ...valuesIn('memory.max')];
    const first = tree.create(
      'sb_1',
      { ...RESOURCES, cpu_quota: 90_000 },
      owner({ memory_bytes: 64 * MIB, cpu_quota: 50_000 }),
    )!;
    expect([quota(), memory()]).toEqual([['50000'], [String(64 * MIB)]]);
    const second = tree.create('sb_2', RESOURCES, owner({ memory_bytes: 128 * MIB, cpu_quota: 80_000 }))!;
    expect([quota(), memory()]).toEqual([['16000'], [String(128 * MIB)]]);
    const third = tree.create('sb_3', RESOURCES, owner({ memory_bytes: 32 * MIB }))!;
    expect(memory()).toEqual([String(32 * MIB)]);
    expect(['-1', 'max']).toContain(quota()[0]);
    for (const cgroup of [first, second]) expect(cgroup.remove()).toBe(true);
    tree.leaveGroup(owner({}));
    expect(memory()).toHaveLength(1);
    expect(third.remove()).toBe(true);
    tree.leaveGroup(owner({}));
    expect(memory()).toEqual([]);
  } finally {
    tree.close();
  }
});

it('a quota of an owner with another period is written while its sandboxes have as much, and a refused one is not', () => {
  const tree = new CgroupTree(`test-period-${process.pid}`);
  tree.open();
  const written = (below = '') =>
    ['cpu/', ''].flatMap((root) => {
      const dir = `/sys/fs/cgroup/${root}paddock-test-period-${process.pid}/owner-a${below}`;
      const values = ['cpu.cfs_quota_us', 'cpu.cfs_period_us', 'cpu.max'].map((name) => join(dir, name));
      const texts = values.filter(existsSync).map((file) => readFileSync(file, 'latin1').trim());
      return texts.length === 0 ? [] : [texts.join(' ')];
    });
  const limited = (cpu_quota: number) => ({ ...RESOURCES, cpu_quota });
  try {
    const small = tree.create('sb_1', limited(60_000), owner({ cpu_quota: 60_000 }))!;
    const large = tree.create('sb_2', limited(150_000), owner({ cpu_quota: 150_000 }))!;
    expect(written()).toEqual(['30000 20000']);
    for (const [quota, text] of [
      [150_000, '30000 20000'],
      [60_000, '60000 100000'],
    ] as const) {
      small.setLimits(limited(quota));
      expect(written('/sb_1')).toEqual([text]);
    }
    expect(large.remove()).toBe(true);
    // v1 refuses a quota below that of a sandbox.
    const refused = readdirSync('/sys/fs/cgroup').includes('cpu');
    const least = () => tree.create('sb_3', limited(0), owner({ cpu_quota: 50_000 }));
    if (refused) expect(least).toThrow('cpu.cfs_quota_us = 50000');
    else expect(least()!.remove()).toBe(true);
    expect(written()).toEqual([refused ? '30000 20000' : '50000 100000']);
    expect(small.remove()).toBe(true);
    tree.leaveGroup(owner({}));
  } finally {
    tree.close();
  }
});

it('limits of an owner are refused where there are no cgroups', () => {
  const tree = new CgroupTree('never-opened');
  expect(() => tree.create('sb', RESOURCES, owner({ memory_bytes: MIB }))).toThrow('cannot be enforced');
});

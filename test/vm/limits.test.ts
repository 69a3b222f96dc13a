import { readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../contract/scene.ts';
import { attacks } from '../security/suite.ts';
import { below, CGROUPS, cgroupOf, count, read } from './cgroups.ts';

const MIB = 1 << 20;
const CGROUP2_MAGIC = 0x63677270;
const SPIN = 'while :; do :; done';

it('this kernel has cgroup v2 only', () => {
  expect(statfsSync(CGROUPS).type).toBe(CGROUP2_MAGIC);
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(' - cgroup cgroup');
  expect(read(CGROUPS, 'cgroup.subtree_control').split(' ')).toEqual(expect.arrayContaining(['cpu', 'memory', 'pids']));
});

attacks('limits on cgroup v2', (target) => {
  it('are in the files of the sandbox’s cgroups, which are removed with it', async () => {
    const { scene } = target;
    const resources = { memory_bytes: 64 * MIB, cpu_quota: 50_000, cpu_shares: 512, pids_limit: 20 };
    const sandbox = await scene.sandboxOn({}, undefined, { resources });
    const cgroup = await cgroupOf(scene, sandbox);
    expect({
      memory: read(cgroup, 'memory.max'),
      swap: read(cgroup, 'memory.swap.max'),
      commands: read(cgroup, 'commands/memory.max'),
      quota: read(cgroup, 'cpu.max'),
      weight: read(cgroup, 'cpu.weight'),
      agent: read(cgroup, 'agent/pids.max'),
    }).toEqual({
      memory: String(64 * MIB),
      swap: '0',
      commands: String(60 * MIB),
      quota: '50000 100000',
      weight: '59',
      agent: '2048',
    });
    const runners = below(join(cgroup, 'commands')).length;
    expect(Number(read(cgroup, 'commands/pids.max'))).toBeGreaterThanOrEqual(20);
    expect(Number(read(cgroup, 'commands/pids.max'))).toBeLessThanOrEqual(20 + runners);
    await scene.client.call('DestroySandbox', { sandbox_id: sandbox.id });
    expect(() => read(cgroup, 'cgroup.procs')).toThrow('ENOENT');
  });

  it('of memory: the command is killed, the kill is reported, and the kernel counts it for this sandbox only', async () => {
    const { scene } = target;
    const resources = { memory_bytes: 64 * MIB };
    const [one, other] = [
      await scene.sandboxOn({}, undefined, { resources }),
      await scene.sandboxOn({}, undefined, { resources }),
    ];
    const [mine, beside] = [await cgroupOf(scene, one), await cgroupOf(scene, other)];
    // As systemd sets it for a service with OOMPolicy=kill: the sandbox's own limit is below it.
    writeFileSync(join(dirname(mine), 'memory.oom.group'), '1');
    const bomb = await scene.run(one, 'exec perl -e \'$x = "a" x (1 << 28); sleep 1\'');
    expect(bomb).toMatchObject({ exit_code: 137, stderr: expect.stringContaining('memory_bytes') });
    expect(count(mine, 'memory.events', 'oom_kill')).toBe(1);
    expect(count(mine, 'memory.events', 'oom_group_kill')).toBe(0);
    expect(count(beside, 'memory.events', 'oom_kill')).toBe(0);
    expect(await scene.output(one, 'echo next')).toBe('next\n');
  });

  // A file in /tmp stays after its writer was killed, so the next process to need a page is any that starts.
  it('of memory, used up by files in /tmp, end commands but not the sandbox', async () => {
    const { scene } = target;
    for (let round = 0; round < 4; round++) {
      const sandbox = await scene.sandboxOn({}, undefined, { resources: { memory_bytes: 48 * MIB } });
      await scene.run(sandbox, 'cat /dev/zero >/tmp/a');
      for (let count = 0; count < 3; count++) await scene.run(sandbox, 'cat /dev/zero >>/tmp/b; ls | cat | cat');
      const { status } = await scene.client.call('GetSandbox', { sandbox_id: sandbox.id });
      expect(status).toBe('SANDBOX_RUNNING');
    }
  });

  it('of processes: the kernel refuses the next one, and the sandbox continues', async () => {
    const { scene } = target;
    const sandbox = await scene.sandboxOn({}, undefined, { resources: { pids_limit: 24 } });
    const cgroup = await cgroupOf(scene, sandbox);
    const many = 'i=0; while [ $i -lt 40 ]; do sleep 20 & i=$((i+1)); done; wait';
    expect((await scene.run(sandbox, many, { timeout: 15 })).stderr).toContain('Cannot fork');
    expect(count(join(cgroup, 'commands'), 'pids.events', 'max')).toBeGreaterThan(0);
    const next = () =>
      scene.run(sandbox, 'echo next').then(
        ({ stdout }) => stdout,
        () => undefined,
      );
    expect(await eventually('a command runs', next, 60_000)).toBe('next\n');
  });

  it('of CPU: cpu.max throttles the sandbox, and cpu.pressure reports it', async () => {
    const { scene } = target;
    const sandbox = await scene.sandboxOn({}, undefined, { resources: { cpu_quota: 20_000 } });
    const cgroup = await cgroupOf(scene, sandbox);
    const [before, began] = [count(cgroup, 'cpu.stat', 'usage_usec'), performance.now()];
    await scene.run(sandbox, `(${SPIN}) & ${SPIN}`, { timeout: 4 }).catch(() => undefined);
    const used = count(cgroup, 'cpu.stat', 'usage_usec') - before;
    const share = used / 1000 / (performance.now() - began);
    expect(share).toBeLessThan(0.3);
    expect(count(cgroup, 'cpu.stat', 'nr_throttled')).toBeGreaterThan(5);
    expect(Number(/^some .*total=(\d+)/m.exec(read(cgroup, 'cpu.pressure'))?.[1])).toBeGreaterThan(0);
  });

  it('of CPU: cpu_shares divide the CPU between two busy sandboxes', async () => {
    const { scene } = target;
    const [small, large] = [
      await scene.sandboxOn({}, undefined, { resources: { cpu_shares: 128 } }),
      await scene.sandboxOn({}, undefined, { resources: { cpu_shares: 8192 } }),
    ];
    const cgroups = [await cgroupOf(scene, small), await cgroupOf(scene, large)] as const;
    const usage = () => cgroups.map((cgroup) => count(cgroup, 'cpu.stat', 'usage_usec'));
    const before = usage();
    const spin = (sandbox: typeof small) =>
      scene.run(sandbox, `(${SPIN}) & (${SPIN}) & ${SPIN}`, { timeout: 5 }).catch(() => undefined);
    await Promise.all([spin(small), spin(large)]);
    const [less = 0, more = 0] = usage().map((used, index) => used - (before[index] ?? 0));
    expect(more / less).toBeGreaterThan(3);
  });

  it('leave no process of a command after its timeout, however it tried to escape', async () => {
    const { scene, state } = target;
    const sandbox = await scene.sandboxOn({}, undefined, { resources: { pids_limit: 100 } });
    const cgroup = await cgroupOf(scene, sandbox);
    const away =
      "trap '' TERM; setsid sleep 8301 & (setsid sh -c 'sleep 8302 & sleep 8303' &); sleep 8304 & kill -STOP $!; wait";
    await expect(scene.run(sandbox, away, { timeout: 2 })).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    await eventually('all are gone', async () => !state.processes().some((line) => /sleep 830\d/.test(line)));
    // The cgroup of an ended command is removed with the next command at the latest.
    await scene.output(sandbox, 'true');
    expect(below(join(cgroup, 'commands')).length).toBeLessThanOrEqual(2);
    expect(count(cgroup, 'cgroup.events', 'frozen')).toBe(0);
  });
});

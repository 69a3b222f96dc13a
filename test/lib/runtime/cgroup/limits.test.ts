import { describe, expect, it } from 'vitest';
import { fromLatin1, fromText } from '../../../../lib/byte-string.ts';
import { parseMounts } from '../../../../lib/linux/mountinfo.ts';
import { cpuWeight, limitWrites, pidsMax } from '../../../../lib/runtime/cgroup/limits.ts';
import { findHierarchies, parseMembership } from '../../../../lib/runtime/cgroup/mounts.ts';

const all = { memory_bytes: 1 << 28, cpu_quota: 150_000, cpu_shares: 1024, pids_limit: 64 };
const shown = (version: 1 | 2) =>
  limitWrites(all, version).map((write) => `${write.level}/${write.file}=${write.value}`);

describe('the cgroup files of limits', () => {
  it('have these values on v1', () => {
    expect(shown(1)).toEqual([
      'sandbox/memory.limit_in_bytes=268435456',
      'sandbox/memory.memsw.limit_in_bytes=268435456',
      'sandbox/cpu.cfs_period_us=20000',
      'sandbox/cpu.cfs_quota_us=30000',
      'sandbox/cpu.shares=1024',
      'commands/pids.max=64',
      'agent/pids.max=2048',
    ]);
  });

  it('have these values on v2', () => {
    expect(shown(2)).toEqual([
      'sandbox/memory.max=268435456',
      'sandbox/memory.swap.max=0',
      'commands/memory.max=264241152',
      'sandbox/cpu.max=30000 20000',
      'sandbox/cpu.weight=100',
      'commands/pids.max=64',
      'agent/pids.max=2048',
    ]);
  });

  it.each([
    [8 << 20, 7 << 20],
    [64 << 20, 60 << 20],
    [2 ** 40, 2 ** 40 - (4 << 20)],
  ])(
    'on v2 reserve, of %d bytes of memory, %d for the commands and the rest for the agent',
    (memory_bytes, commands) => {
      const writes = limitWrites({ memory_bytes, cpu_quota: 0, cpu_shares: 0, pids_limit: 0 }, 2);
      expect(writes.find((write) => write.level === 'commands')).toMatchObject({
        file: 'memory.max',
        value: `${commands}`,
      });
      expect(writes.find((write) => write.level === 'sandbox')).toMatchObject({ value: `${memory_bytes}` });
    },
  );

  it('are not written without limits', () => {
    expect(limitWrites({ memory_bytes: 0, cpu_quota: 0, cpu_shares: 0, pids_limit: 0 }, 2)).toEqual([]);
  });

  it('map shares to weights over the whole range, and the default to the default', () => {
    expect([2, 1024, 262_144].map(cpuWeight)).toEqual([1, 100, 10_000]);
    for (let shares = 3; shares < 262_144; shares *= 2)
      expect(cpuWeight(shares)).toBeLessThanOrEqual(cpuWeight(shares * 2));
  });

  it('do not count the service’s own runners in pids_limit', () => {
    expect(pidsMax(64, 3)).toBe('67');
  });
});

describe('the hierarchies of a host', () => {
  const controllers = (have: string) => (_: string) => have;

  it('are read from a v1 host', () => {
    const text = [
      '31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct',
      '32 24 0:28 / /sys/fs/cgroup/mem\\040ory rw - cgroup cgroup rw,memory',
    ].join('\n');
    expect(findHierarchies(parseMounts(fromLatin1(text)), controllers(''))).toEqual([
      { version: 1, mountPoint: '/sys/fs/cgroup/cpu,cpuacct', controllers: ['rw', 'cpu', 'cpuacct'] },
      { version: 1, mountPoint: '/sys/fs/cgroup/mem ory', controllers: ['rw', 'memory'] },
    ]);
  });

  it('are read from a v2 host, once for one mount point', () => {
    const line = '26 22 0:24 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate';
    expect(findHierarchies(parseMounts(fromLatin1(`${line}\n${line}`)), controllers('cpu memory pids\n'))).toEqual([
      { version: 2, mountPoint: '/sys/fs/cgroup', controllers: ['cpu', 'memory', 'pids'] },
    ]);
  });

  it('are empty if none is mounted', () => {
    expect(findHierarchies(parseMounts(fromText('22 1 0:20 / /proc rw - proc proc rw\n')), controllers(''))).toEqual(
      [],
    );
    expect(findHierarchies([], controllers(''))).toEqual([]);
  });

  it('include the server’s own cgroup', () => {
    const membership = parseMembership('4:memory:/a\n1:cpu,cpuacct:/b:c\n0::/system.slice/x.service\n');
    expect(Object.fromEntries(membership)).toEqual({
      memory: '/a',
      cpu: '/b:c',
      cpuacct: '/b:c',
      '': '/system.slice/x.service',
    });
  });
});

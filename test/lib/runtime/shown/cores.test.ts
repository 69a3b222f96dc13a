import { expect, it } from 'vitest';
import { coresOf, cpuinfo, cpuStat, cpuTimes, onlineCores } from '../../../../lib/runtime/shown/cores.ts';

it.each([
  [1000, 8, 1],
  [100_000, 8, 1],
  [100_001, 8, 2],
  [150_000, 8, 2],
  [1_000_000_000, 8, 8],
])('a quota of %i µs on %i cores is worth %i', (quota, machine, cores) => {
  expect(coresOf(quota, machine)).toBe(cores);
});

it('a list of cores ends after the first ones, and keeps what belongs to none', () => {
  const x64 = 'processor\t: 0\nflags\t: a\n\nprocessor\t: 1\nflags\t: a\n\nprocessor\t: 2\nflags\t: a\n\n';
  expect(cpuinfo(x64, 2)).toBe('processor\t: 0\nflags\t: a\n\nprocessor\t: 1\nflags\t: a\n\n');
  const arm64 = 'processor\t: 0\nBogoMIPS\t: 1\n\nprocessor\t: 1\nBogoMIPS\t: 1\n\nHardware\t: x\n';
  expect(cpuinfo(arm64, 1)).toBe('processor\t: 0\nBogoMIPS\t: 1\n\nHardware\t: x\n');
  expect([onlineCores(1), onlineCores(3)]).toEqual(['0\n', '0-2\n']);
});

it('the time of the sandbox is divided among its cores, and the rest of the time they were idle', () => {
  const text = cpuStat(2, { user: 100, system: 40 }, 10, 'btime 1700000000\n').split('\n');
  expect(text.slice(0, 3)).toEqual([
    'cpu  100 0 40 1860 0 0 0 0 0 0',
    'cpu0 50 0 20 930 0 0 0 0 0 0',
    'cpu1 50 0 20 930 0 0 0 0 0 0',
  ]);
  expect(text).toContain('btime 1700000000');
});

it('times are read in the units of v1 and of v2', () => {
  expect(cpuTimes('user 12\nsystem 3\n')).toEqual({ user: 12, system: 3 });
  expect(cpuTimes('usage_usec 150000\nuser_usec 120000\nsystem_usec 30000\n')).toEqual({ user: 12, system: 3 });
  expect(cpuTimes('')).toEqual({ user: 0, system: 0 });
});

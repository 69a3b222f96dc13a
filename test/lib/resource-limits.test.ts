import { expect, it } from 'vitest';
import { automaticCpuQuota } from '../../lib/resource-limits.ts';

it.each([
  [2, 150_000],
  [1, 75_000],
  [6, 450_000],
  [0.01, 1000],
])('the CPU quota of a sandbox without one is three quarters of %d cores', (cores, quota) => {
  expect(automaticCpuQuota({ memoryBytes: 2 ** 31, pidsLimit: 1024 }, cores)).toBe(quota);
  expect(automaticCpuQuota({ memoryBytes: 0, pidsLimit: 1024 }, cores)).toBe(quota);
});

it('there is no CPU quota where the defaults have no limit that needs a cgroup', () => {
  expect(automaticCpuQuota({ memoryBytes: 0, pidsLimit: 0 }, 2)).toBe(0);
});

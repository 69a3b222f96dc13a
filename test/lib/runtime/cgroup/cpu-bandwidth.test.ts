import { expect, it } from 'vitest';
import { RESOURCE_RANGES } from '../../../../lib/resource-limits.ts';
import { cpuBandwidth } from '../../../../lib/runtime/cgroup/cpu-bandwidth.ts';

it.each([
  [0, 0, 0],
  [1000, 1000, 100_000],
  [50_000, 50_000, 100_000],
  [74_999, 74_999, 100_000],
  [75_000, 15_000, 20_000],
  [150_000, 30_000, 20_000],
  [RESOURCE_RANGES.cpu_quota.maximum, 200_000_000, 20_000],
])('a cpu_quota of %d is %d µs in %d', (cpuQuota, quota, period) => {
  expect(cpuBandwidth(cpuQuota)).toEqual({ quota, period });
});

it('a share is never above the requested one nor above that of a larger cpu_quota, and the kernel takes it', () => {
  let last = 0;
  for (let cpuQuota = RESOURCE_RANGES.cpu_quota.minimum; cpuQuota < 200_000; cpuQuota++) {
    const { quota, period } = cpuBandwidth(cpuQuota);
    const share = quota / period;
    if (share > cpuQuota / 100_000 || share < (cpuQuota - 4) / 100_000 || share < last || quota < 1000) {
      expect.fail(`${cpuQuota}: ${quota} in ${period}`);
    }
    last = share;
  }
});

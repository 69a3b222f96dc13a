import { CPU_QUOTA_UNIT_US } from '../../resource-limits.ts';

/**
 * The period in which the kernel enforces a quota. A sandbox may use every core until its quota of the period is used
 * up: with 100 ms and three quarters of two cores, another sandbox's command waited up to 75 ms for each of its steps.
 * https://docs.kernel.org/scheduler/sched-bwc.html
 */
const SHORT_PERIOD_US = 20_000;
/**
 * Least quota of a short period. One busy thread gets it without a wait, which most commands do not exceed; a smaller
 * quota gets the long period, where it covers as much in one piece. It is far above the kernel's minimum of 1 ms and its
 * slice of 5 ms.
 */
const LEAST_SHORT_QUOTA_US = 15_000;

/**
 * Converts `cpu_quota` to the kernel's quota and period, in microseconds; 0 is no quota. The share is never above the
 * requested one, and at most 4 µs in 100 ms below it. It never falls while `cpu_quota` grows: v1 refuses a share above that
 * of the cgroup above.
 */
export function cpuBandwidth(cpuQuota: number): { quota: number; period: number } {
  if (cpuQuota === 0) return { quota: 0, period: 0 };
  const quota = Math.floor(cpuQuota / (CPU_QUOTA_UNIT_US / SHORT_PERIOD_US));
  if (quota >= LEAST_SHORT_QUOTA_US) return { quota, period: SHORT_PERIOD_US };
  return { quota: cpuQuota, period: CPU_QUOTA_UNIT_US };
}

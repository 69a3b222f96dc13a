import type { ResourceLimits } from './contract/messages.ts';

export type LimitName = keyof ResourceLimits;

/**
 * Minimum and maximum of each resource limit; 0 is also allowed and means no limit. Shared by the configuration, the
 * API and the cgroups. The bounds are the kernel's, except for memory: with less, the sandbox's own agent could not
 * run. https://docs.kernel.org/scheduler/sched-bwc.html, PID_MAX_LIMIT in linux/threads.h, cpu.shares in
 * kernel/sched/core.c
 */
export const RESOURCE_RANGES = {
  memory_bytes: { minimum: 8 * 1024 * 1024, maximum: Number.MAX_SAFE_INTEGER },
  cpu_quota: { minimum: 1000, maximum: 1_000_000_000 },
  cpu_shares: { minimum: 2, maximum: 262_144 },
  pids_limit: { minimum: 1, maximum: 4_194_304 },
} as const satisfies Record<LimitName, { minimum: number; maximum: number }>;

/** `cpu_quota` is CPU time in so many microseconds; `cpuBandwidth` says in which period it is enforced. */
export const CPU_QUOTA_UNIT_US = 100_000;
/** Of the cores. */
const AUTOMATIC_SHARE = 3 / 4;

/**
 * The CPU quota of a sandbox for which nobody set one: three quarters of the cores, so that one sandbox leaves time for the
 * server and the others. 0 where the other defaults are 0, as on a host without cgroups, which could not enforce it.
 * `cores`: those that sandboxes may use.
 */
export function automaticCpuQuota(
  { memoryBytes, pidsLimit }: { memoryBytes: number; pidsLimit: number },
  cores: number,
): number {
  if (memoryBytes === 0 && pidsLimit === 0) return 0;
  return Math.max(Math.floor(cores * AUTOMATIC_SHARE * CPU_QUOTA_UNIT_US), RESOURCE_RANGES.cpu_quota.minimum);
}

/** Whether the value is allowed for the limit. */
export function isAllowed(limit: LimitName, value: number): boolean {
  const { minimum, maximum } = RESOURCE_RANGES[limit];
  return value === 0 || (Number.isSafeInteger(value) && value >= minimum && value <= maximum);
}

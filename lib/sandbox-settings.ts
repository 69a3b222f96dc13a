import { availableParallelism } from 'node:os';
import { protectedPaths } from './config/protected-paths.ts';
import type { Config } from './config/schema.ts';
import type { Runtime as RuntimeName } from './contract/messages.ts';
import type { OwnerLimitSource } from './limits/stored-limits.ts';
import { automaticCpuQuota } from './resource-limits.ts';
import { coresAbove } from './runtime/cgroup/cores-above.ts';
import type { Settings } from './sandboxes/context.ts';

export const RUNTIME_NAMES = {
  bwrap: 'RUNTIME_BWRAP',
  docker: 'RUNTIME_DOCKER',
  mock: 'RUNTIME_MOCK',
} as const satisfies Record<Config['runtime']['type'], RuntimeName>;

/** The settings of sandboxes in the configuration. */
export function settingsOf(config: Config, owners: OwnerLimitSource): Settings {
  const { runtime, sandbox, limits, network } = config;
  const { memoryBytes, cpuQuota, cpuShares, pidsLimit } = sandbox.defaultResources;
  const cores = Math.min(availableParallelism(), coresAbove());
  return {
    runtime: RUNTIME_NAMES[runtime.type],
    defaultImage: runtime.docker.defaultImage,
    mountablePaths: runtime.mountablePaths,
    protectedPaths: protectedPaths(config),
    defaultExpiration: sandbox.defaultExpiration,
    expiry: {
      onExpire: sandbox.defaultOnExpire,
      retention: sandbox.expiredRetention,
      maxKept: sandbox.maxExpiredPerUser,
    },
    defaultTimeout: runtime.defaultTimeout,
    maxTimeout: runtime.maxTimeout,
    owners,
    defaultResources: {
      memory_bytes: memoryBytes,
      cpu_quota: cpuQuota === 'auto' ? automaticCpuQuota(sandbox.defaultResources, cores) : cpuQuota,
      cpu_shares: cpuShares,
      pids_limit: pidsLimit,
    },
    sessions: limits.sessions,
    network: { enabled: network.enabled, allowMax: network.allowMax, isDockers: runtime.docker.enableNetworking },
    processes: {
      processes: limits.processes,
      outputBytes: limits.processOutputBytes,
      sandboxOutputBytes: limits.sandboxOutputBytes,
      retention: limits.processRetention,
    },
  };
}

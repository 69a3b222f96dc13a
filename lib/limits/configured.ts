import type { Config } from '../config/schema.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { LimitsOfOwners } from '../services.ts';
import type { CallLimits } from './limits.ts';
import { type OwnerLimitSource, StoredLimits, unlimitedOwners } from './stored-limits.ts';

/** The limits of owners. Without authentication only the number of sandboxes is limited. */
export function ownerLimits(
  { auth, sandbox, limits }: Config,
  { owners }: Pick<Metadata, 'owners'>,
): LimitsOfOwners & OwnerLimitSource {
  if (auth.mode === 'off') return unlimitedOwners(sandbox.maxPerUser);
  const { codebases, storedBytes, deltaBytes, memoryBytes, cpuQuota, ...calls } = limits.perOwner;
  return new StoredLimits(owners, {
    ...callLimits(calls),
    codebases,
    stored_bytes: storedBytes,
    delta_bytes: deltaBytes,
    sandboxes: sandbox.maxPerUser,
    memory_bytes: memoryBytes,
    cpu_quota: cpuQuota,
  });
}

export function callLimits(configured: Config['limits']['perKey']): CallLimits {
  const { requestsPerSecond, requestBurst, commands, streams, createsPerMinute } = configured;
  return {
    requests_per_second: requestsPerSecond,
    request_burst: requestBurst,
    commands,
    streams,
    creates_per_minute: createsPerMinute,
  };
}

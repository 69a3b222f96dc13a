import type { ResourceLimits } from '../../contract/messages.ts';
import { invalidArgument } from '../../errors.ts';
import { isAllowed, type LimitName, RESOURCE_RANGES } from '../../resource-limits.ts';
import { cpuBandwidth } from './cpu-bandwidth.ts';

export const CONTROLLER_OF: Readonly<Record<LimitName, 'memory' | 'cpu' | 'pids'>> = {
  memory_bytes: 'memory',
  cpu_quota: 'cpu',
  cpu_shares: 'cpu',
  pids_limit: 'pids',
};

/** A value to write, and the cgroup it applies to: the sandbox's top, the part for commands, or the agent's part. */
export interface LimitWrite {
  controller: 'memory' | 'cpu' | 'pids';
  level: 'sandbox' | 'commands' | 'agent';
  file: string;
  value: string;
  /** Whether the kernel may lack the file without making the limit ineffective (swap accounting). */
  optional?: boolean;
}

/**
 * Limit of the agent's part, where runners start with up to three processes each. It stops a command that gained
 * control of the agent.
 */
const AGENT_PIDS = 2048;
/**
 * The share of memory_bytes that is reserved for the agent: about twice the need of the agent and of a starting runner.
 */
const AGENT_MEMORY = { most: 4 * 1024 * 1024, share: 8 };

/**
 * Returns the limits that are not 0. Throws INVALID_ARGUMENT for one that is out of range, which a record of an older
 * server may have.
 */
export function requestedLimits(resources: ResourceLimits): LimitName[] {
  for (const [name, { minimum, maximum }] of Object.entries(RESOURCE_RANGES)) {
    if (isAllowed(name as LimitName, resources[name as LimitName])) continue;
    throw invalidArgument(`resources.${name}`, `must be 0 or between ${minimum} and ${maximum}`);
  }
  return (Object.keys(RESOURCE_RANGES) as LimitName[]).filter((name) => resources[name] !== 0);
}

/**
 * Converts cpu.shares (2 to 262144) to cpu.weight (1 to 10000), with the defaults on each other (1024 is 100): the
 * quadratic curve (in log2) of the container runtimes (https://github.com/containers/crun/blob/main/crun.1.md, "CPU
 * controller").
 */
export function cpuWeight(shares: number): number {
  const log = Math.log2(shares);
  return Math.min(10_000, Math.max(1, Math.ceil(10 ** ((log * log + 125 * log) / 612 - 7 / 34))));
}

/** Maximum processes of the commands' part: those of the tenant, plus the service's runner shells in it. */
export const pidsMax = (limit: number, runners: number): string => String(limit + runners);

/**
 * v2: the memory limit of the commands' part. Files in a tmpfs stay after the kernel has killed every command; without
 * this limit the next victim would be the agent or bwrap, which would end the sandbox. On v1 a separate limit would
 * need a write per command, and the shared limit has not been observed to kill the agent.
 */
const commandsMemory = (bytes: number): number =>
  bytes - Math.min(AGENT_MEMORY.most, Math.ceil(bytes / AGENT_MEMORY.share));

/** Returns the writes that must precede the first process, in order. */
export function limitWrites(resources: ResourceLimits, version: 1 | 2): LimitWrite[] {
  const { memory_bytes: memory, cpu_shares: shares, pids_limit: pids } = resources;
  const { quota, period } = cpuBandwidth(resources.cpu_quota);
  const writes: LimitWrite[] = [];
  const add = (write: Omit<LimitWrite, 'level'> & { level?: LimitWrite['level'] }) =>
    writes.push({ level: 'sandbox', ...write });
  if (version === 1) {
    if (memory) {
      add({ controller: 'memory', file: 'memory.limit_in_bytes', value: String(memory) });
      add({ controller: 'memory', file: 'memory.memsw.limit_in_bytes', value: String(memory), optional: true });
    }
    if (quota) {
      add({ controller: 'cpu', file: 'cpu.cfs_period_us', value: String(period) });
      add({ controller: 'cpu', file: 'cpu.cfs_quota_us', value: String(quota) });
    }
    if (shares) add({ controller: 'cpu', file: 'cpu.shares', value: String(shares) });
  } else {
    if (memory) {
      add({ controller: 'memory', file: 'memory.max', value: String(memory) });
      add({ controller: 'memory', file: 'memory.swap.max', value: '0', optional: true });
      add({ controller: 'memory', level: 'commands', file: 'memory.max', value: String(commandsMemory(memory)) });
    }
    if (quota) add({ controller: 'cpu', file: 'cpu.max', value: `${quota} ${period}` });
    if (shares) add({ controller: 'cpu', file: 'cpu.weight', value: String(cpuWeight(shares)) });
  }
  if (pids) {
    add({ controller: 'pids', level: 'commands', file: 'pids.max', value: pidsMax(pids, 0) });
    add({ controller: 'pids', level: 'agent', file: 'pids.max', value: String(AGENT_PIDS) });
  }
  return writes;
}

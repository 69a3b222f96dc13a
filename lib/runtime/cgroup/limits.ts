import { invalidArgument } from '../../errors.ts';
import type { ResourceLimits } from '../../messages.ts';
import { CPU_PERIOD_US, isAllowed, type LimitName, RESOURCE_RANGES } from '../../resource-limits.ts';

export const CONTROLLER_OF: Readonly<Record<LimitName, 'memory' | 'cpu' | 'pids'>> = {
  memory_bytes: 'memory',
  cpu_quota: 'cpu',
  cpu_shares: 'cpu',
  pids_limit: 'pids',
};

/** Where in a sandbox's tree a value goes: its top, the part that holds commands, or the agent's own. */
export interface LimitWrite {
  controller: 'memory' | 'cpu' | 'pids';
  level: 'sandbox' | 'commands' | 'agent';
  file: string;
  value: string;
  /** A knob this kernel may lack without the limit losing its meaning (swap accounting). */
  optional?: boolean;
}

/** Runners are born in the agent's part, three processes each for a moment. A command that got at the agent stops here. */
const AGENT_PIDS = 2048;
/** What of memory_bytes the commands' part leaves to the agent: about twice what it and the start of a runner take. */
const AGENT_MEMORY = { most: 4 * 1024 * 1024, share: 8 };

/** The limits that are not 0. Throws INVALID_ARGUMENT naming one that is out of range: a record of an older server. */
export function requestedLimits(resources: ResourceLimits): LimitName[] {
  for (const [name, { minimum, maximum }] of Object.entries(RESOURCE_RANGES)) {
    if (isAllowed(name as LimitName, resources[name as LimitName])) continue;
    throw invalidArgument(`resources.${name}`, `must be 0 or between ${minimum} and ${maximum}`);
  }
  return (Object.keys(RESOURCE_RANGES) as LimitName[]).filter((name) => resources[name] !== 0);
}

/**
 * cpu.shares 2–262144 to cpu.weight 1–10000 so that the two defaults meet: 1024 is 100. The quadratic (in log2) curve
 * of the container runtimes (https://github.com/containers/crun/blob/main/crun.1.md, "CPU controller").
 */
export function cpuWeight(shares: number): number {
  const log = Math.log2(shares);
  return Math.min(10_000, Math.max(1, Math.ceil(10 ** ((log * log + 125 * log) / 612 - 7 / 34))));
}

/** Processes the commands' part may hold: the tenant's, and the runner shells the service itself keeps there. */
export const pidsMax = (limit: number, runners: number): string => String(limit + runners);

/**
 * v2: the commands' share of memory_bytes. Files in a tmpfs stay when the kernel has killed every command, and then the
 * next process to need a page would be the agent or bwrap, and its end the sandbox's. v1 needs a write per command for
 * a part of its own, and there the same limit was not seen to end the agent.
 */
const commandsMemory = (bytes: number): number =>
  bytes - Math.min(AGENT_MEMORY.most, Math.ceil(bytes / AGENT_MEMORY.share));

/** The values to write before the first process enters, in order. */
export function limitWrites(resources: ResourceLimits, version: 1 | 2): LimitWrite[] {
  const { memory_bytes: memory, cpu_quota: quota, cpu_shares: shares, pids_limit: pids } = resources;
  const writes: LimitWrite[] = [];
  const add = (write: Omit<LimitWrite, 'level'> & { level?: LimitWrite['level'] }) =>
    writes.push({ level: 'sandbox', ...write });
  if (version === 1) {
    if (memory) {
      add({ controller: 'memory', file: 'memory.limit_in_bytes', value: String(memory) });
      add({ controller: 'memory', file: 'memory.memsw.limit_in_bytes', value: String(memory), optional: true });
    }
    if (quota) {
      add({ controller: 'cpu', file: 'cpu.cfs_period_us', value: String(CPU_PERIOD_US) });
      add({ controller: 'cpu', file: 'cpu.cfs_quota_us', value: String(quota) });
    }
    if (shares) add({ controller: 'cpu', file: 'cpu.shares', value: String(shares) });
  } else {
    if (memory) {
      add({ controller: 'memory', file: 'memory.max', value: String(memory) });
      add({ controller: 'memory', file: 'memory.swap.max', value: '0', optional: true });
      add({ controller: 'memory', level: 'commands', file: 'memory.max', value: String(commandsMemory(memory)) });
    }
    if (quota) add({ controller: 'cpu', file: 'cpu.max', value: `${quota} ${CPU_PERIOD_US}` });
    if (shares) add({ controller: 'cpu', file: 'cpu.weight', value: String(cpuWeight(shares)) });
  }
  if (pids) {
    add({ controller: 'pids', level: 'commands', file: 'pids.max', value: pidsMax(pids, 0) });
    add({ controller: 'pids', level: 'agent', file: 'pids.max', value: String(AGENT_PIDS) });
  }
  return writes;
}

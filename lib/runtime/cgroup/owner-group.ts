import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResourceLimits } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import { isHostShort } from '../../host-error.ts';
import type { OwnerResources } from '../runtime.ts';
import { cpuBandwidth } from './cpu-bandwidth.ts';
import type { CgroupRoots, ControllerRoot } from './roots.ts';

const CONTROLLERS = ['memory', 'cpu', 'pids'] as const;

/**
 * Creates the cgroups that the sandboxes of one owner share, if they do not exist, and writes their limits, also where
 * sandboxes are running in them. Returns the roots for a sandbox of the owner. Throws FAILED_PRECONDITION if a limit
 * cannot be enforced.
 */
export function openOwnerGroup(roots: CgroupRoots, { group, memory_bytes, cpu_quota }: OwnerResources): CgroupRoots {
  requireController(roots, 'memory', memory_bytes);
  requireController(roots, 'cpu', cpu_quota);
  const limits: { [name in (typeof CONTROLLERS)[number]]?: ControllerRoot } = {};
  for (const controller of CONTROLLERS) {
    const root = roots.limits[controller];
    if (root === undefined) continue;
    const dir = join(root.dir, group);
    mkdirSync(dir, { recursive: true });
    // v2: the limits of a sandbox need the controllers in the group that it is in.
    if (root.version === 2) put(dir, 'cgroup.subtree_control', `+${controller}`);
    limits[controller] = { ...root, dir };
  }
  if (limits.memory) writeMemory(limits.memory, memory_bytes);
  if (limits.cpu) writeCpu(limits.cpu, cpu_quota);
  const groups = join(roots.groups, group);
  mkdirSync(groups, { recursive: true });
  return { ...roots, groups, limits };
}

/** Removes the group if no sandbox is in it. Never throws. */
export function removeOwnerGroup({ groups, limits }: CgroupRoots, group: string): void {
  for (const dir of new Set([groups, ...Object.values(limits).map((limit) => limit.dir)])) {
    try {
      rmdirSync(join(dir, group));
    } catch {
      // Another sandbox of the owner is in it, or it does not exist.
    }
  }
}

/** The limits of a sandbox of the owner: v1 refuses a quota above that of the cgroup above. */
export function withinOwner(resources: ResourceLimits, owner: OwnerResources | undefined): ResourceLimits {
  if (owner === undefined || owner.cpu_quota === 0) return resources;
  return { ...resources, cpu_quota: Math.min(resources.cpu_quota, owner.cpu_quota) };
}

function requireController(roots: CgroupRoots, controller: 'memory' | 'cpu', value: number): void {
  if (value === 0 || roots.limits[controller]) return;
  const name = controller === 'memory' ? 'memory_bytes' : 'cpu_quota';
  throw new ServiceError(
    'FAILED_PRECONDITION',
    `${name} of the owner’s limits cannot be enforced on this host: no writable cgroup with the ${controller} controller`,
  );
}

function writeMemory({ version, dir }: { version: 1 | 2; dir: string }, bytes: number): void {
  if (version === 2) {
    put(dir, 'memory.max', bytes === 0 ? 'max' : String(bytes));
    if (existsSync(join(dir, 'memory.swap.max'))) put(dir, 'memory.swap.max', bytes === 0 ? 'max' : '0');
    return;
  }
  // Without the hierarchy the limit would not cover the cgroups below.
  if (bytes > 0 && readFileSync(join(dir, 'memory.use_hierarchy'), 'latin1').trim() !== '1') {
    put(dir, 'memory.use_hierarchy', '1');
  }
  const value = bytes === 0 ? '-1' : String(bytes);
  const swap = existsSync(join(dir, 'memory.memsw.limit_in_bytes'));
  // The limit with swap must never be below the one without: its order depends on whether the limit grows.
  if (swap && grows(dir, bytes)) put(dir, 'memory.memsw.limit_in_bytes', value);
  put(dir, 'memory.limit_in_bytes', value);
  if (swap) put(dir, 'memory.memsw.limit_in_bytes', value);
}

function grows(dir: string, bytes: number): boolean {
  return bytes === 0 || Number(readFileSync(join(dir, 'memory.limit_in_bytes'), 'latin1')) < bytes;
}

function writeCpu({ version, dir }: { version: 1 | 2; dir: string }, cpuQuota: number): void {
  const { quota, period } = cpuBandwidth(cpuQuota);
  if (version === 2) put(dir, 'cpu.max', quota === 0 ? 'max' : `${quota} ${period}`);
  else if (quota === 0) put(dir, 'cpu.cfs_quota_us', '-1');
  else writeQuota(dir, quota, period);
}

/**
 * v1 takes period and quota one after the other, and each only if the share lies between those of the cgroups below and
 * that of the cgroup above. The old quota in the new period may not, so there is none in between; a refusal leaves
 * what was in force.
 */
function writeQuota(dir: string, quota: number, period: number): void {
  const [oldPeriod, oldQuota] = ['cpu.cfs_period_us', 'cpu.cfs_quota_us'].map((file) =>
    readFileSync(join(dir, file), 'latin1').trim(),
  ) as [string, string];
  try {
    if (oldPeriod !== String(period)) {
      put(dir, 'cpu.cfs_quota_us', '-1');
      put(dir, 'cpu.cfs_period_us', String(period));
    }
    put(dir, 'cpu.cfs_quota_us', String(quota));
  } catch (error) {
    put(dir, 'cpu.cfs_period_us', oldPeriod);
    put(dir, 'cpu.cfs_quota_us', oldQuota);
    throw error;
  }
}

function put(dir: string, file: string, value: string): void {
  try {
    writeFileSync(join(dir, file), value, { flag: 'r+' });
  } catch (error) {
    if (isHostShort(error)) throw error;
    throw new ServiceError(
      'FAILED_PRECONDITION',
      `the owner’s limits: this host does not take ${file} = ${value} (${(error as NodeJS.ErrnoException).code})`,
      [],
      { cause: error },
    );
  }
}

import { accessSync, constants, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Hierarchy, mountedHierarchies, parseMembership } from './mounts.ts';

/**
 * The cores that the CPU quotas of the cgroups above those of sandboxes leave, for example that of `docker run --cpus`;
 * infinite without one. v1 refuses a quota above them.
 */
export function coresAbove(): number {
  try {
    const membership = parseMembership(readFileSync('/proc/self/cgroup', 'utf8'));
    return coresLeft(mountedHierarchies(), membership);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Sandboxes are below the root of the hierarchy or, if it is not writable, below the server's own cgroup. */
export function coresLeft(hierarchies: readonly Hierarchy[], membership: ReadonlyMap<string, string>): number {
  let least = Number.POSITIVE_INFINITY;
  const cpu = hierarchies.find(({ controllers }) => controllers.includes('cpu'));
  if (cpu === undefined) return least;
  const { version, mountPoint } = cpu;
  const own = membership.get(version === 2 ? '' : 'cpu') ?? '/';
  const parent = [mountPoint, join(mountPoint, own)].find(isWritable) ?? mountPoint;
  for (let at = parent; at.startsWith(mountPoint) && at !== '/'; at = dirname(at)) {
    least = Math.min(least, version === 2 ? coresOfMax(at) : coresOfQuota(at));
  }
  return least;
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function coresOfMax(directory: string): number {
  const [quota, period] = textOf(directory, 'cpu.max').split(' ');
  return coresOf(Number(quota), Number(period));
}

function coresOfQuota(directory: string): number {
  return coresOf(Number(textOf(directory, 'cpu.cfs_quota_us')), Number(textOf(directory, 'cpu.cfs_period_us')));
}

/** Without a quota it is -1, `max`, or has no file. */
function coresOf(quota: number, period: number): number {
  return quota > 0 && period > 0 ? quota / period : Number.POSITIVE_INFINITY;
}

function textOf(directory: string, file: string): string {
  try {
    return readFileSync(join(directory, file), 'latin1').trim();
  } catch {
    return '';
  }
}

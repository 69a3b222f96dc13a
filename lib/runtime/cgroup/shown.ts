import { basename, join } from 'node:path';
import type { Counters } from '../shown/shown-limits.ts';
import type { Hierarchy } from './mounts.ts';
import type { CgroupRoots, ControllerRoot } from './roots.ts';

/** A cgroup directory that a sandbox may see: its own limits and what it uses. It must not be able to write there. */
export interface ShownCgroup {
  source: string;
  /** Name of its hierarchy below /sys/fs/cgroup; empty: that of v2, in its place. */
  name: string;
}

export const shownName = ({ version, mountPoint }: Hierarchy): string => (version === 2 ? '' : basename(mountPoint));

/** What has the cgroups of all sandboxes that see them. */
export function shownDirectories({ limits: { memory, cpu }, beside = {} }: CgroupRoots): string[] {
  const all = [memory, cpu, beside.cpuacct, beside.cpuset].flatMap((root) => root?.dir ?? []);
  return [...new Set(all)];
}

/** `dirs`: the cgroups of the sandbox. */
export function shownCgroups({ limits, beside = {} }: CgroupRoots, id: string, dirs: readonly string[]): ShownCgroup[] {
  const { memory, cpu } = limits;
  const shown = new Map<string, ShownCgroup>();
  for (const root of [memory, cpu, beside.cpuacct]) {
    const source = own(root, id, dirs);
    // Once for a hierarchy with several controllers.
    if (source !== undefined && root?.name !== undefined) shown.set(source, { source, name: root.name });
  }
  const { cpuset } = beside;
  if (cpuset?.name !== undefined && shown.size > 0) shown.set(cpuset.dir, { source: cpuset.dir, name: cpuset.name });
  return [...shown.values()];
}

export function countersOf({ limits, beside = {} }: CgroupRoots, id: string, dirs: readonly string[]): Counters {
  const memory = own(limits.memory, id, dirs);
  const cpu = own(limits.cpu, id, dirs);
  const cpuacct = own(beside.cpuacct, id, dirs);
  return {
    ...(memory !== undefined && { memory: { version: limits.memory!.version, dir: memory } }),
    ...(cpuacct !== undefined && { cpuTimes: join(cpuacct, 'cpuacct.stat') }),
    ...(cpu !== undefined && limits.cpu!.version === 2 && { cpuTimes: join(cpu, 'cpu.stat') }),
  };
}

function own(root: ControllerRoot | undefined, id: string, dirs: readonly string[]): string | undefined {
  const dir = root === undefined ? undefined : join(root.dir, id);
  return dir !== undefined && dirs.includes(dir) ? dir : undefined;
}

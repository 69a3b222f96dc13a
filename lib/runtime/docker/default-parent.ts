import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { ContainerCreateOptions } from 'dockerode';
import { ServiceError } from '../../errors.ts';
import { isHostFault } from '../../host-error.ts';
import { isRunning } from '../../linux/is-running.ts';
import { type Hierarchy, mountedHierarchies, parseMembership } from '../cgroup/mounts.ts';
import { containerState, createContainer, startContainer } from './bring-up.ts';
import type { Daemon } from './daemon.ts';
import { notUp } from './not-up.ts';
import { removeNamedContainer } from './own-containers.ts';
import type { DockerTimes } from './times.ts';

/** The reason is a clause, as in "the daemon's cgroup driver is systemd". */
export function noOwnerLimits(reason: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'FAILED_PRECONDITION',
    `memory_bytes and cpu_quota of the owner’s limits cannot be enforced with the runtime docker: ${reason}`,
    [],
    { cause },
  );
}

/**
 * Throws FAILED_PRECONDITION unless the daemon takes the path of a cgroup as the parent of containers. With its systemd
 * driver only systemd may write the limits of the parent, a slice.
 */
export async function requireCgroupfs(daemon: Daemon, { callMs }: DockerTimes): Promise<void> {
  const driver = await daemon.call({
    doing: 'asking its cgroup driver',
    limitMs: callMs,
    ask: async (docker) => {
      const { CgroupDriver } = (await docker.info()) as { CgroupDriver?: unknown };
      if (typeof CgroupDriver !== 'string') throw new Error('its answer has no cgroup driver');
      return CgroupDriver;
    },
  });
  if (driver !== 'cgroupfs') {
    throw noOwnerLimits(`the daemon’s cgroup driver is ${driver}, and must be cgroupfs (native.cgroupdriver)`);
  }
}

/**
 * Returns the cgroup in which the daemon puts containers that name no parent (`--cgroup-parent`, by default /docker),
 * which its API does not tell: a container of this plan, removed again, is started for it. Its agent waits for the server, and
 * ends with it. Throws FAILED_PRECONDITION if the server does not see that cgroup.
 */
export async function defaultParent(
  daemon: Daemon,
  plan: ContainerCreateOptions,
  image: string,
  times: DockerTimes,
): Promise<string> {
  try {
    const id = await createContainer(daemon, plan, image, times);
    await startContainer(daemon, id, image, times);
    const { Running, Pid, ExitCode } = await containerState(daemon, id, times);
    if (!Running) throw notUp(image, { reason: 'its container ended', exitCode: ExitCode });
    const parent = parentOf(id, Pid);
    if (parent !== undefined) return parent;
    if (!isRunning(Pid)) throw notUp(image, { reason: 'its container ended' });
  } finally {
    // If this fails, the creation of the sandbox's container, which has the same name, removes it.
    await removeNamedContainer(daemon, plan, times.startMs).catch(() => undefined);
  }
  throw noOwnerLimits('the server does not see the cgroups of the daemon’s containers');
}

/** Undefined if the process is not in cgroups named after the container, with the same parent in all hierarchies. */
function parentOf(containerId: string, initPid: number): string | undefined {
  let cgroup: string;
  try {
    cgroup = readFileSync(`/proc/${initPid}/cgroup`, 'utf8');
  } catch (error) {
    if (isHostFault(error)) throw error;
    return undefined;
  }
  return parentIn(mountedHierarchies(), cgroup, containerId);
}

/** Parses /proc/PID/cgroup of a container's process. */
export function parentIn(hierarchies: readonly Hierarchy[], cgroup: string, containerId: string): string | undefined {
  const membership = parseMembership(cgroup);
  const parents = new Set<string | undefined>();
  for (const controller of ['memory', 'cpu']) {
    const hierarchy = hierarchies.find(({ controllers }) => controllers.includes(controller));
    if (hierarchy === undefined) continue;
    const path = membership.get(hierarchy.version === 2 ? '' : controller) ?? '';
    parents.add(basename(path) === containerId ? dirname(path) : undefined);
  }
  return parents.size === 1 ? [...parents][0] : undefined;
}

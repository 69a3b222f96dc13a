import type { ContainerInspectInfo, ContainerInspectOptions } from 'dockerode';
import type { ResourceLimits } from '../../contract/messages.ts';
import type { SandboxSpec } from '../runtime.ts';
import { containerLimits, containerName } from './container.ts';
import type { Daemon } from './daemon.ts';
import { presentImage } from './images.ts';
import { checkPosture, statusOf } from './posture.ts';
import type { Shared } from './shared.ts';

export type Limits = ReturnType<typeof containerLimits>;

/** The container of a ready sandbox. */
export interface ReadyContainer {
  id: string;
  /** Host pid of docker-init. */
  init: number;
  imageId: string;
  /** What it was created for. */
  spec: Pick<SandboxSpec, 'id' | 'resources'>;
  /** What the daemon then had. */
  limits: Limits;
}

/**
 * Gives a ready container the name and the limits of a sandbox, and checks that it then is as one created for it: of the image
 * that its reference names now, running, with these limits and no others. Follows `requireSameKinds`. Rejects; then it must be
 * removed.
 */
export async function giveContainer(
  { daemon, containers, instance, times }: Pick<Shared, 'daemon' | 'containers' | 'instance' | 'times'>,
  { id, init, imageId, spec: before, limits }: ReadyContainer,
  spec: SandboxSpec,
): Promise<void> {
  const updates = containerLimits(spec.resources);
  const created = containerLimits(before.resources);
  const given = containers.give(id, before.id, spec.id);
  const [image] = await Promise.all([presentImage(daemon, spec.image, times), given]);
  if (image?.id !== imageId) throw new Error('its image is not the one of this name any more');
  if (!areEqual(updates, created)) await setLimits(daemon, id, updates, times.callMs);
  const found = await inspect(daemon, id, times.callMs);
  const { Name, State } = found;
  if (Name !== `/${containerName(instance, spec.id)}`) throw new Error('it does not have the name of the sandbox');
  if (!State.Running || State.Paused || State.Pid !== init) throw new Error('it does not run');
  // A limit that this host ignores, for example of swap, is ignored for every container.
  const expected = fieldsOf(limits).map(([name, value]) => [name, value === created[name] ? updates[name] : value]);
  if (!areEqual(Object.fromEntries(expected), limitsOf(found)))
    throw new Error('it does not have the limits asked for');
  checkPosture(statusOf(init), spec.uid);
}

/** Throws unless the same kinds of limits are set: the daemon takes 0 for "as it is". */
export function requireSameKinds(some: ResourceLimits, others: ResourceLimits): void {
  const limits = containerLimits(others);
  if (fieldsOf(containerLimits(some)).some(([name, value]) => (value === 0) !== (limits[name] === 0))) {
    throw new Error('other kinds of limits');
  }
}

/** The limits of a container as the daemon has them. */
export async function inspectLimits(daemon: Daemon, id: string, limitMs: number): Promise<Limits> {
  return limitsOf(await inspect(daemon, id, limitMs));
}

function inspect(daemon: Daemon, id: string, limitMs: number): Promise<ContainerInspectInfo> {
  return daemon.call({
    doing: 'looking for a container',
    limitMs,
    ask: async (docker, abortSignal) => {
      const found = await docker.getContainer(id).inspect({ abortSignal } as ContainerInspectOptions);
      if (found.State === undefined || found.HostConfig === undefined) throw new Error('its answer has no state');
      return found;
    },
  });
}

function setLimits(daemon: Daemon, id: string, limits: Limits, limitMs: number): Promise<void> {
  return daemon.call({
    doing: 'setting the limits of a container',
    limitMs,
    ask: (docker, abortSignal) => docker.getContainer(id).update({ ...limits, abortSignal }) as Promise<void>,
  });
}

const fieldsOf = (limits: Limits) => Object.entries(limits) as [keyof Limits, number][];

function limitsOf({ HostConfig }: ContainerInspectInfo): Limits {
  const none = containerLimits({ memory_bytes: 0, cpu_quota: 0, cpu_shares: 0, pids_limit: 0 });
  return Object.fromEntries(fieldsOf(none).map(([name]) => [name, HostConfig[name] ?? 0])) as Limits;
}

const areEqual = (some: Limits, others: Limits) => fieldsOf(some).every(([name, value]) => others[name] === value);

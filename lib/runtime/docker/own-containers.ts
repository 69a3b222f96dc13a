import type { ContainerCreateOptions, ContainerInfo, ContainerInspectOptions } from 'dockerode';
import { ServiceError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { containerName, INSTANCE_LABEL, isOwnName } from './container.ts';
import type { Daemon } from './daemon.ts';
import { daemonStatus } from './errors.ts';
import type { DockerTimes } from './times.ts';

const CONCURRENCY = 8;

/**
 * The containers of this instance in any state. Both label and name must match: an image may carry labels of its own,
 * and containers of others must never be touched.
 */
export async function listOwn(daemon: Daemon, instance: string, limitMs: number): Promise<ContainerInfo[]> {
  const filters = { label: [`${INSTANCE_LABEL}=${instance}`] };
  return daemon.call({
    doing: 'listing containers',
    limitMs,
    ask: async (docker, abortSignal) => {
      const containers = await docker.listContainers({ all: true, filters, abortSignal });
      if (!Array.isArray(containers)) throw new Error('its answer is no list');
      return containers.filter(({ Names }) => Names.some((name) => isOwnName(instance, name.slice(1))));
    },
  });
}

/**
 * Removes the container with all its processes and anonymous volumes. Succeeds if it is gone or its removal is in
 * progress. By id, never by name: a busy daemon may process the request after its time limit, when the name can belong
 * to the next container of the sandbox.
 */
async function removeContainer(daemon: Daemon, id: string, limitMs: number): Promise<void> {
  try {
    await daemon.call({
      doing: 'removing a container',
      limitMs,
      ask: (docker, abortSignal) =>
        docker.getContainer(id).remove({ force: true, v: true, abortSignal }) as Promise<void>,
    });
  } catch (error) {
    // 409: its removal is in progress.
    const status = daemonStatus(error);
    if (status !== 404 && status !== 409) throw error;
  }
}

/**
 * As `removeContainer`, for the container that has the plan's name now. FAILED_PRECONDITION if it has not the label of
 * the plan's instance: everybody who uses the daemon may give this name to a container of his own.
 */
export async function removeNamedContainer(daemon: Daemon, plan: NamedPlan, limitMs: number): Promise<void> {
  const { name = '', Labels: labels } = plan;
  let id: string;
  try {
    id = await daemon.call({
      doing: 'looking for a container',
      limitMs,
      ask: async (docker, abortSignal) => {
        const found = await docker.getContainer(name).inspect({ abortSignal } as ContainerInspectOptions);
        const { Id, Config } = found;
        if (typeof Id !== 'string' || Id === '') throw new Error('its answer has no container id');
        const instance = Config?.Labels?.[INSTANCE_LABEL];
        if (instance === undefined || instance !== labels?.[INSTANCE_LABEL]) throw notOwn(name);
        return Id;
      },
    });
  } catch (error) {
    if (daemonStatus(error) === 404) return;
    throw error;
  }
  await removeContainer(daemon, id, limitMs);
}

type NamedPlan = Pick<ContainerCreateOptions, 'name' | 'Labels'>;

const notOwn = (name: string) =>
  new ServiceError(
    'FAILED_PRECONDITION',
    `docker runtime: the container ${name} was not made by this server; remove it`,
  );

/**
 * Keeps the daemon's containers of this instance equal to the running sandboxes. Containers whose removal failed, or
 * that an unanswered request may have created, are removed by later sweeps until the daemon has returned its list.
 */
export class OwnContainers {
  readonly #daemon: Daemon;
  readonly #instance: string;
  readonly #times: DockerTimes;
  readonly #log: Log;
  /** Names of wanted containers, from before the create request until their removal. */
  readonly #wanted = new Set<string>();
  /** By the present name. Both are wanted, because a list that the daemon began before has the former one. */
  readonly #formerNames = new Map<string, string>();
  #sweep: NodeJS.Timeout | undefined;
  /** Whether a removal failed, or a creation was not answered. */
  #mayBeLeft = false;

  constructor(daemon: Daemon, instance: string, times: DockerTimes, log: Log) {
    this.#daemon = daemon;
    this.#instance = instance;
    this.#times = times;
    this.#log = log;
  }

  /** False while a container of this instance may exist that no sandbox needs. */
  get areKnown(): boolean {
    return !this.#mayBeLeft && this.#wanted.size === 0;
  }

  /** Precedes the request to create the sandbox's container. It is needed from now on: it is not removed as a remainder. */
  want(sandboxId: string): void {
    this.#wanted.add(containerName(this.#instance, sandboxId));
  }

  /** Gives the container of a ready sandbox, `from`, to another one. The names of both belong to it until `discard(to)`. */
  async give(id: string, from: string, to: string): Promise<void> {
    const name = containerName(this.#instance, to);
    this.want(to);
    this.#formerNames.set(name, containerName(this.#instance, from));
    await this.#daemon.call({
      doing: 'renaming a container',
      limitMs: this.#times.callMs,
      ask: (docker, abortSignal) =>
        docker.getContainer(id).rename({ name, abortSignal } as { name: string }) as Promise<void>,
    });
  }

  /**
   * Removes the container of a sandbox. `id`: absent if the request to create it was not answered. Never throws: a
   * container that cannot be removed now is removed later. A daemon that was not asked to create it is not asked for it.
   */
  async discard(sandboxId: string, id?: string): Promise<void> {
    const name = containerName(this.#instance, sandboxId);
    if (!this.#wanted.delete(name) && id === undefined) return;
    this.#wanted.delete(this.#formerNames.get(name) ?? '');
    this.#formerNames.delete(name);
    try {
      const Labels = { [INSTANCE_LABEL]: this.#instance };
      if (id === undefined) await removeNamedContainer(this.#daemon, { name, Labels }, this.#times.removeMs);
      else await removeContainer(this.#daemon, id, this.#times.removeMs);
    } catch (err) {
      this.#log.warn('container not removed yet, will retry', { sandbox_id: sandboxId, err });
      this.#mayBeLeft = true;
      this.#sweepLater();
    }
  }

  /**
   * Removes all containers of this instance without a sandbox. The daemon may still create one for a server that was killed:
   * they are looked for once more when it has had its time.
   */
  async reclaim(): Promise<void> {
    await this.#removeLeft();
    this.#sweepLater();
  }

  async #removeLeft(): Promise<void> {
    this.#mayBeLeft = false;
    try {
      const left = (await listOwn(this.#daemon, this.#instance, this.#times.callMs)).filter(
        ({ Names }) => !Names.some((name) => this.#wanted.has(name.slice(1))),
      );
      const remove = async () => {
        for (let next = left.pop(); next; next = left.pop()) {
          await removeContainer(this.#daemon, next.Id, this.#times.startMs);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, remove));
    } catch (error) {
      this.#mayBeLeft = true;
      throw error;
    }
  }

  /** The daemon may still work on an aborted request; this is the time it has to finish. */
  #sweepLater(): void {
    if (this.#sweep) return;
    this.#sweep = setTimeout(() => {
      this.#sweep = undefined;
      this.#removeLeft().catch(() => this.#sweepLater());
    }, this.#times.startMs);
    this.#sweep.unref();
  }
}

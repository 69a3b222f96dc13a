import type { ContainerInfo } from 'dockerode';
import type { Log } from '../../log.ts';
import { containerName, INSTANCE_LABEL, SANDBOX_LABEL } from './container.ts';
import type { Daemon } from './daemon.ts';
import { daemonStatus } from './errors.ts';
import type { DockerTimes } from './times.ts';

const AT_ONCE = 8;

/**
 * Containers that this instance made, in whatever state. Label and name must both say so: an image may carry labels of
 * its own, and nobody else's container is ever touched.
 */
export async function listOwn(daemon: Daemon, instance: string, limitMs: number): Promise<ContainerInfo[]> {
  const filters = { label: [`${INSTANCE_LABEL}=${instance}`] };
  const containers = await daemon.call({
    doing: 'listing containers',
    limitMs,
    ask: (docker, abortSignal) => docker.listContainers({ all: true, filters, abortSignal }),
  });
  return containers.filter(({ Names, Labels }) =>
    Names.includes(`/${containerName(instance, Labels[SANDBOX_LABEL] ?? '')}`),
  );
}

/** With every process in it and its anonymous volumes. One that is gone, or going, is removed. */
export async function removeContainer(daemon: Daemon, idOrName: string, limitMs: number): Promise<void> {
  try {
    await daemon.call({
      doing: 'removing a container',
      limitMs,
      ask: (docker, abortSignal) =>
        docker.getContainer(idOrName).remove({ force: true, v: true, abortSignal }) as Promise<void>,
    });
  } catch (error) {
    // 409: its removal is under way already.
    const status = daemonStatus(error);
    if (status !== 404 && status !== 409) throw error;
  }
}

/**
 * Keeps the daemon's containers of this instance equal to the sandboxes that are up. What could not be removed, or may
 * have been made by a request that was never answered, is swept until the daemon has said what there is.
 */
export class OwnContainers {
  readonly #daemon: Daemon;
  readonly #instance: string;
  readonly #times: DockerTimes;
  readonly #log: Log;
  /** Names, from before the request that makes it until its removal. */
  readonly #wanted = new Set<string>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(daemon: Daemon, instance: string, times: DockerTimes, log: Log) {
    this.#daemon = daemon;
    this.#instance = instance;
    this.#times = times;
    this.#log = log;
  }

  want(sandboxId: string): void {
    this.#wanted.add(containerName(this.#instance, sandboxId));
  }

  /** Never throws: a container that the daemon does not remove now is removed later. */
  async discard(sandboxId: string): Promise<void> {
    const name = containerName(this.#instance, sandboxId);
    this.#wanted.delete(name);
    try {
      await removeContainer(this.#daemon, name, this.#times.removeMs);
    } catch (err) {
      this.#log.warn('a container could not be removed yet', { sandbox_id: sandboxId, err });
      this.#sweepLater();
    }
  }

  /** Everything of this instance that no sandbox wants. */
  async reclaim(): Promise<void> {
    const left = (await listOwn(this.#daemon, this.#instance, this.#times.callMs)).filter(
      ({ Names }) => !Names.some((name) => this.#wanted.has(name.slice(1))),
    );
    const remove = async () => {
      for (let next = left.pop(); next; next = left.pop()) {
        await removeContainer(this.#daemon, next.Id, this.#times.startMs);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, remove));
  }

  /** Once a request was given up, the daemon may still be at it: it has this long to have come to an end. */
  #sweepLater(): void {
    if (this.#sweep) return;
    this.#sweep = setTimeout(() => {
      this.#sweep = undefined;
      this.reclaim().catch(() => this.#sweepLater());
    }, this.#times.startMs);
    this.#sweep.unref();
  }
}

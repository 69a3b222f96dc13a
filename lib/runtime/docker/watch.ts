import { setTimeout as delay } from 'node:timers/promises';
import type { GetEventsOptions } from 'dockerode';
import type { Log } from '../../log.ts';
import { INSTANCE_LABEL } from './container.ts';
import type { Daemon } from './daemon.ts';
import { daemonError } from './errors.ts';
import { jsonLines } from './json-lines.ts';
import { listOwn } from './own-containers.ts';
import type { DockerTimes } from './times.ts';

interface ContainerEvent {
  Action?: string;
  Actor?: { ID?: string; Attributes?: Record<string, string> };
}

export interface ContainerEnd {
  reason: string;
  exitCode?: number;
}

type Ended = (end: ContainerEnd) => void;

/**
 * Reports the end of this instance's containers, whatever caused it. One event stream serves all; it is open while
 * there are containers. Ends during an outage of the daemon are found by comparing with its list at each new
 * connection.
 */
export class ContainerWatch {
  readonly #daemon: Daemon;
  readonly #instance: string;
  readonly #times: Pick<DockerTimes, 'callMs' | 'retryMs'>;
  readonly #log: Log;
  readonly #ended = new Map<string, Ended>();
  #stream: AbortController | undefined;

  constructor(daemon: Daemon, instance: string, times: Pick<DockerTimes, 'callMs' | 'retryMs'>, log: Log) {
    this.#daemon = daemon;
    this.#instance = instance;
    this.#times = times;
    this.#log = log;
  }

  /** `ended` is called at most once; the container's start must follow this call. */
  add(id: string, ended: Ended): void {
    this.#ended.set(id, ended);
    if (this.#stream) return;
    this.#stream = new AbortController();
    void this.#follow(this.#stream.signal);
  }

  /** Ends the watch of a container; the event stream is closed with the last one. */
  remove(id: string): void {
    this.#ended.delete(id);
    if (this.#ended.size > 0) return;
    this.#stream?.abort();
    this.#stream = undefined;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let away = false;
    while (!signal.aborted) {
      const connection = new AbortController();
      const close = () => connection.abort();
      signal.addEventListener('abort', close);
      try {
        const events = await this.#open(connection.signal);
        await this.#compare();
        if (away) this.#log.info('Docker daemon is available again', { daemon: this.#daemon.address });
        away = false;
        for await (const event of jsonLines(events)) this.#take(event as ContainerEvent);
      } catch (thrown) {
        if (signal.aborted) return;
        const err = daemonError(thrown, { address: this.#daemon.address, doing: 'watching containers' });
        if (!away) this.#log.warn('Docker daemon is unavailable', { daemon: this.#daemon.address, err });
        away = true;
      } finally {
        signal.removeEventListener('abort', close);
        connection.abort();
      }
      await delay(this.#times.retryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  #open(abortSignal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const filters = { type: ['container'], event: ['die', 'destroy'], label: [`${INSTANCE_LABEL}=${this.#instance}`] };
    return this.#daemon.call({
      doing: 'watching containers',
      limitMs: this.#times.callMs,
      ask: async (docker) =>
        (await docker.getEvents({ filters, abortSignal } as GetEventsOptions)) as AsyncIterable<Buffer>,
    });
  }

  /** After the stream is open, so that no event is missed in between. */
  async #compare(): Promise<void> {
    const before = [...this.#ended.keys()];
    const containers = await listOwn(this.#daemon, this.#instance, this.#times.callMs);
    const found = new Map(containers.map((container) => [container.Id, container]));
    for (const id of before) {
      const container = found.get(id);
      if (!container) this.#end(id, { reason: 'its container was removed' });
      else if (container.State === 'exited' || container.State === 'dead')
        this.#end(id, { reason: `its container ended: ${container.Status}` });
    }
  }

  #take({ Action, Actor }: ContainerEvent): void {
    const { ID: id = '', Attributes = {} } = Actor ?? {};
    if (Action === 'die') {
      const { exitCode = 'unknown' } = Attributes;
      this.#end(id, { reason: `its container ended with exit code ${exitCode}`, exitCode: Number(exitCode) });
    }
    if (Action === 'destroy') this.#end(id, { reason: 'its container was removed' });
  }

  #end(id: string, end: ContainerEnd): void {
    const ended = this.#ended.get(id);
    if (!ended) return;
    this.remove(id);
    ended(end);
  }
}

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { LateReplies } from './late-replies.ts';
import type { EndedSync, StartedSync } from './sync-thread.ts';

/** Syncs that run at once. */
export const SYNC_THREADS = 2;

/** A sync that the file system starts. `answers`: causes of the requests that have succeeded if all of it is durable. */
export interface Sync {
  answers?: readonly number[];
}

/** One sync thread, as the request worker sees it. */
interface Lane {
  port: MessagePort;
  started: boolean;
  /** Causes of the sync that runs; undefined: none runs. */
  running: readonly number[] | undefined;
}

/**
 * The sync threads, on the request worker. A thread is started for the first sync that finds no idle one: until then its
 * port keeps the messages.
 */
export class SyncThreads {
  readonly #lanes: readonly Lane[];
  readonly #late: LateReplies;
  readonly #startThread: (index: number) => void;
  /** Syncs that begin when the current request has ended. */
  readonly #beginning: Sync[] = [];

  constructor(ports: readonly MessagePort[], late: LateReplies, startThread: (index: number) => void) {
    this.#lanes = ports.map((port) => ({ port, started: false, running: undefined }));
    this.#late = late;
    this.#startThread = startThread;
  }

  /** Starts a sync at `flush`. Not more than `SYNC_THREADS` may run at once. */
  start(sync: Sync): void {
    this.#beginning.push(sync);
  }

  /** Sends the syncs of the request that has ended, with the requests that they answer: the last one is known only now. */
  flush(): void {
    for (let sync = this.#beginning.shift(); sync !== undefined; sync = this.#beginning.shift()) {
      const index = this.#lanes.findIndex(({ running }) => running === undefined);
      const lane = this.#lanes[index];
      if (lane === undefined) throw new Error('every sync thread is busy');
      const { answers = [] } = sync;
      lane.running = answers;
      lane.port.postMessage({
        sync,
        replies: answers.flatMap((cause) => this.#late.prepared(cause)),
      } satisfies StartedSync);
      if (!lane.started) this.#startThread(index);
      lane.started = true;
    }
  }

  /** Calls `ended` for each sync that has ended. */
  receive(ended: (id: number, errnos: readonly number[]) => void): void {
    for (const lane of this.#lanes) {
      if (lane.running === undefined) continue;
      const mail = receiveMessageOnPort(lane.port) as { message: EndedSync } | undefined;
      if (mail === undefined) continue;
      const { id, errnos, replied } = mail.message;
      if (replied) for (const cause of lane.running) this.#late.drop(cause);
      lane.running = undefined;
      ended(id, errnos);
    }
  }
}

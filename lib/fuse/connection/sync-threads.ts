import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { LateReplies } from './late-replies.ts';
import type { EndedSync, PreparedReply, StartedSync } from './sync-thread.ts';

/** Syncs that run at once. */
export const SYNC_THREADS = 2;

/** A sync that the file system starts. `answers`: causes of the requests that have succeeded if all of it is durable. */
export interface Sync {
  id: number;
  answers?: readonly number[];
}

/** Called at the end of a sync with the errno of each of its files or 0; undefined: its thread ended before it did. */
type Ended = (id: number, errnos: readonly number[] | undefined) => void;

/** One sync thread, as the request worker sees it. */
interface Lane {
  /** undefined: it is to be started. */
  port: MessagePort | undefined;
  running: Sync | undefined;
  /** The replies that it was given with the sync that runs, and those of the last one, which it may not have sent. */
  replies: readonly PreparedReply[];
  lastReplies: readonly PreparedReply[];
}

/** The sync threads, on the request worker. A thread is started for the first sync that finds no idle one. */
export class SyncThreads {
  readonly #lanes: readonly Lane[];
  readonly #late: LateReplies;
  readonly #startThread: (index: number) => MessagePort;
  /** Syncs that begin when the current request has ended. */
  readonly #beginning: Sync[] = [];

  /** `startThread` starts one and returns its port, which keeps the messages until then. */
  constructor(late: LateReplies, startThread: (index: number) => MessagePort) {
    this.#lanes = Array.from({ length: SYNC_THREADS }, () => ({
      port: undefined,
      running: undefined,
      replies: [],
      lastReplies: [],
    }));
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
      lane.running = sync;
      lane.replies = (sync.answers ?? []).flatMap((cause) => this.#late.prepared(cause));
      lane.port ??= this.#startThread(index);
      lane.port.postMessage({ sync, replies: lane.replies } satisfies StartedSync);
    }
  }

  /** Calls `ended` for each sync that has ended. */
  receive(ended: Ended): void {
    for (const lane of this.#lanes) receiveEnd(lane, this.#late, ended);
  }

  /**
   * A thread has ended by itself; a later sync starts another one. A sync whose end it did not report has failed, and its
   * requests are answered by their owner. One that it did report may have been its last act, before the replies: they
   * are sent again, which the kernel ignores for a request that has been answered.
   */
  threadEnded(index: number, ended: Ended): void {
    const lane = this.#lanes[index]!;
    receiveEnd(lane, this.#late, ended);
    this.#late.sendAgain(lane.lastReplies);
    lane.lastReplies = [];
    lane.port?.close();
    lane.port = undefined;
    const { running } = lane;
    lane.running = undefined;
    if (running !== undefined) ended(running.id, undefined);
  }
}

function receiveEnd(lane: Lane, late: LateReplies, ended: Ended): void {
  if (lane.running === undefined || lane.port === undefined) return;
  const mail = receiveMessageOnPort(lane.port) as { message: EndedSync } | undefined;
  if (mail === undefined) return;
  const { id, errnos, replied } = mail.message;
  if (replied) for (const cause of lane.running.answers ?? []) late.drop(cause);
  lane.lastReplies = replied ? lane.replies : [];
  lane.running = undefined;
  ended(id, errnos);
}

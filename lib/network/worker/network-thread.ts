import type { Worker } from 'node:worker_threads';
import { ServiceError } from '../../errors.ts';
import { startThread, type ThreadEntry } from '../../threads/thread-entry.ts';
import { decodeThrown, type ThreadAnswer } from '../../threads/thread-messages.ts';
import type { NetworkOptions } from './network-service.ts';
import type { NetworkCall, NetworkNews, NetworkWorkerData } from './run-networks.ts';

/** Of the thread's heap. A thread that needs more ends, and is started again. */
const HEAP = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 };

/** Of `runNetworks`. */
interface Failure {
  failure: Parameters<typeof decodeThrown>[0];
  count: number;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export interface ThreadListeners {
  ended(cause: unknown): void;
  failed?(error: Error, count: number): void;
  news(id: string): void;
}

/** The thread that serves all networks. It keeps the process alive only while a call is in progress. */
export class NetworkThread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  #ended = false;

  /**
   * `entry`: runs `runNetworks` for the role 'network'. `ended` is called once, also after `end`; `failed` with an
   * error of one connection, and how many there were since the last time; `news` for the first event of a network after an
   * answer of `events` without any.
   */
  constructor(entry: ThreadEntry, options: NetworkOptions, { ended, failed, news }: ThreadListeners) {
    const workerData: NetworkWorkerData = { role: 'network', options };
    this.#worker = startThread(entry, workerData, { resourceLimits: HEAP });
    this.#worker.unref();
    this.#worker.on('message', (answer: (ThreadAnswer & { call: number }) | Failure | NetworkNews) => {
      if ('failure' in answer) return failed?.(decodeThrown(answer.failure), answer.count);
      if ('news' in answer) return news(answer.news);
      const pending = this.#take(answer.call);
      if ('error' in answer) pending?.reject(decodeThrown(answer.error));
      else pending?.resolve(answer.value);
    });
    let cause: unknown;
    this.#worker.on('error', (error) => {
      cause = error;
    });
    this.#worker.on('exit', () => {
      this.#ended = true;
      for (const call of [...this.#pending.keys()]) this.#take(call)?.reject(stopped(cause));
      ended(cause);
    });
  }

  call(method: NetworkCall['method'], args: readonly unknown[]): Promise<unknown> {
    if (this.#ended) return Promise.reject(stopped(undefined));
    return new Promise((resolve, reject) => {
      const call = ++this.#calls;
      this.#pending.set(call, { resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage({ call, method, args } satisfies NetworkCall);
    });
  }

  #take(call: number): Pending | undefined {
    const pending = this.#pending.get(call);
    this.#pending.delete(call);
    if (this.#pending.size === 0) this.#worker.unref();
    return pending;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

function stopped(cause: unknown): ServiceError {
  const problem = 'the thread that serves the networks of sandboxes ended meanwhile; try again';
  return new ServiceError('UNAVAILABLE', problem, [], { cause });
}

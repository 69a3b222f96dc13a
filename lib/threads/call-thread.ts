import { parentPort, type Worker } from 'node:worker_threads';
import { ServiceError } from '../errors.ts';
import { Calls } from './calls.ts';
import { startThread, type ThreadEntry } from './thread-entry.ts';

/**
 * A thread that serves one object to many callers at once, and may call one of this thread. It keeps the process alive only
 * while a call is in progress.
 */
export class CallThread<T extends object> {
  readonly #worker: Worker;
  readonly #calls: Calls;
  #hasEnded = false;

  /** `entry`: runs `serveCalls` for the role of `workerData`. `back`: what it may call. */
  constructor(entry: ThreadEntry, workerData: { role: string }, back: object) {
    this.#worker = startThread(entry, workerData);
    const worker = this.#worker;
    this.#calls = new Calls((message) => {
      worker.ref();
      worker.postMessage(message);
    }, back);
    worker.unref();
    worker.on('message', (message) => {
      this.#calls.receive(message);
      if (this.#calls.isIdle) worker.unref();
    });
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      this.#hasEnded = true;
      const problem = 'the thread of this request ended meanwhile; try again';
      this.#calls.end(new ServiceError('UNAVAILABLE', problem, [], { cause }));
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get remote(): T {
    return this.#calls.root as T;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Serves the object that `make` returns to the main thread. `back`: what may be called there. */
export function serveCalls<Back extends object>(make: (back: Back) => object): void {
  const port = parentPort!;
  let calls: Calls | undefined;
  // The object needs the other end, and the other end is of these calls.
  const back = new Proxy({}, { get: (_, method) => Reflect.get(calls!.root, method) }) as Back;
  calls = new Calls((message) => port.postMessage(message), make(back));
  port.on('message', (message) => calls.receive(message));
}

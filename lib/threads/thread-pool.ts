import type { Worker } from 'node:worker_threads';
import { ServiceError } from '../errors.ts';
import { Shares } from '../shares.ts';
import { startThread, type ThreadEntry } from './thread-entry.ts';
import { decodeThrown, type ThreadAnswer, type ThreadRequest } from './thread-messages.ts';

/** An object in another thread: the same methods, asynchronous. One call at a time. */
export type Remote<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never;
};

/** What a thread serves: an object with synchronous methods. `close` gives up what it holds. */
export interface Closable {
  close(): void;
}

/** An object that its holder has alone. The holder must call `release`, once. */
export interface Held<T extends Closable> {
  readonly remote: Remote<T>;
  /** Closes the object. A call that is still in progress is cut off with its thread. Never rejects. */
  release(): Promise<void>;
}

/** Gives out objects that live in threads of their own. */
export interface Threads<T extends Closable> {
  /** Waits while too many are in use, for a limited time; then RESOURCE_EXHAUSTED. `signal`: ends the wait. */
  take(signal?: AbortSignal): Promise<Held<T>>;
}

/** Threads that owners share. */
export interface SharedThreads<T extends Closable> {
  /** Those within the share of an owner. */
  of(owner: string): Threads<T>;
}

/**
 * Threads of one kind in use at once; each has a heap of its own. One owner may use four, a second one two, and two more
 * one each: a slow sender keeps its thread for as long as it likes.
 */
const MAX_THREADS = 8;
/** Milliseconds that a holder waits for a thread. */
const MAX_WAIT_MS = 30_000;

interface Limits {
  /** Milliseconds: a call that takes longer fails, and its thread is ended. Absent: none. */
  maxCall?: number;
  /** Milliseconds of the wait for a thread; absent: 30 s. */
  maxWait?: number;
  /** Threads at once; absent: MAX_THREADS. */
  most?: number;
}

interface Waiting {
  owner: string;
  admit: () => void;
}

/**
 * Threads for work in long synchronous steps, which would hold the main thread. Each holder has a thread alone. One idle
 * thread is kept for the next holder; it does not keep the process alive.
 */
export class ThreadPool<T extends Closable> implements SharedThreads<T> {
  readonly #entry: ThreadEntry;
  readonly #role: string;
  readonly #limits: Limits;
  readonly #shares: Shares<string>;
  /** In order of arrival. */
  readonly #waiting = new Set<Waiting>();
  #idle: Thread | undefined;

  /** `entry`: runs `serveThread` for this role. */
  constructor(entry: ThreadEntry, role: string, limits: Limits = {}) {
    this.#entry = entry;
    this.#role = role;
    this.#limits = limits;
    // What one leaves free is always one thread more than there is.
    this.#shares = new Shares((limits.most ?? MAX_THREADS) + 1);
  }

  of(owner: string): Threads<T> {
    return { take: (signal) => this.#take(owner, signal) };
  }

  async #take(owner: string, signal: AbortSignal | undefined): Promise<Held<T>> {
    signal?.throwIfAborted();
    if (!this.#shares.take(owner, 1)) await this.#wait(owner, signal);
    try {
      const thread = this.#next();
      let isReleased = false;
      return {
        // After the release the thread has another holder.
        remote: remoteOf<T>((method, args) =>
          isReleased ? Promise.reject(stopped(undefined)) : thread.call(method, args),
        ),
        release: async () => {
          isReleased = true;
          await this.#give(thread);
          this.#leave(owner);
        },
      };
    } catch (error) {
      // The host starts no more threads.
      this.#leave(owner);
      throw error;
    }
  }

  #wait(owner: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (reason: Error) => {
        end();
        this.#waiting.delete(waiting);
        reject(reason);
      };
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const admit = () => {
        end();
        resolve();
      };
      const abort = () => leave(signal?.reason);
      const waiting = { owner, admit };
      const timer = setTimeout(() => leave(busy()), this.#limits.maxWait ?? MAX_WAIT_MS);
      signal?.addEventListener('abort', abort);
      this.#waiting.add(waiting);
    });
  }

  /** The place goes to the first that waits and whose share allows it. */
  #leave(owner: string): void {
    this.#shares.give(owner, 1);
    for (const waiting of this.#waiting) {
      if (!this.#shares.take(waiting.owner, 1)) continue;
      this.#waiting.delete(waiting);
      waiting.admit();
    }
  }

  /** Ends the idle thread. */
  async close(): Promise<void> {
    const idle = this.#idle;
    this.#idle = undefined;
    await idle?.end().catch(() => undefined);
  }

  #next(): Thread {
    const idle = this.#idle;
    this.#idle = undefined;
    if (idle?.isUsable) return idle;
    return new Thread(this.#entry, this.#role, this.#limits.maxCall);
  }

  async #give(thread: Thread): Promise<void> {
    if (thread.isUsable) await thread.call('close', []).catch(() => undefined);
    if (thread.isUsable && this.#idle === undefined) this.#idle = thread;
    else await thread.end().catch(() => undefined);
  }
}

function remoteOf<T extends Closable>(call: Thread['call']): Remote<T> {
  const get = (_: object, method: string | symbol) =>
    // Not a promise itself.
    method === 'then' ? undefined : (...args: readonly unknown[]) => call(String(method), args);
  return new Proxy({}, { get }) as Remote<T>;
}

interface Call {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

class Thread {
  readonly #worker: Worker;
  readonly #maxCallMs: number | undefined;
  #call: Call | undefined;
  #ended = false;

  constructor(entry: ThreadEntry, role: string, maxCallMs: number | undefined) {
    this.#maxCallMs = maxCallMs;
    this.#worker = startThread(entry, { role });
    this.#worker.unref();
    this.#worker.on('message', (answer: ThreadAnswer) => {
      const call = this.#call;
      this.#call = undefined;
      if ('error' in answer) call?.reject(decodeThrown(answer.error));
      else call?.resolve(answer.value);
    });
    this.#worker.on('error', (cause) => this.#fail(cause));
    this.#worker.on('exit', () => this.#fail(undefined));
  }

  /** Whether it can be called: it runs, and no call is in progress. */
  get isUsable(): boolean {
    return !this.#ended && this.#call === undefined;
  }

  call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (!this.isUsable) return Promise.reject(stopped(undefined));
    return new Promise((resolve, reject) => {
      this.#worker.ref();
      const timer = this.#maxCallMs === undefined ? undefined : setTimeout(() => void this.end(), this.#maxCallMs);
      const settled = () => {
        clearTimeout(timer);
        this.#worker.unref();
      };
      this.#call = {
        resolve: (value) => {
          settled();
          resolve(value);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      };
      this.#worker.postMessage({ method, args } satisfies ThreadRequest);
    });
  }

  async end(): Promise<void> {
    this.#fail(undefined);
    await this.#worker.terminate();
  }

  #fail(cause: unknown): void {
    this.#ended = true;
    const call = this.#call;
    this.#call = undefined;
    call?.reject(stopped(cause));
  }
}

function busy(): ServiceError {
  return new ServiceError('RESOURCE_EXHAUSTED', 'too many requests of this kind are in progress; try again later');
}

function stopped(cause: unknown): ServiceError {
  return new ServiceError('UNAVAILABLE', 'the thread of this request ended meanwhile; try again', [], { cause });
}

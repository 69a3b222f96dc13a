import { availableParallelism } from 'node:os';
import { crc32 } from 'node:zlib';
import { CallThread } from '../../../threads/call-thread.ts';
import type { ThreadEntry } from '../../../threads/thread-entry.ts';
import type { StoresOptions } from './open-codebases.ts';
import type { StoresThreadData } from './stores-thread.ts';
import type { HeadKeeper, Listing, Place, TreeStores, UploadOptions } from './tree-stores.ts';

const MOST = 4;

/**
 * The stores of codebases in threads, which start when they are needed. A codebase belongs to one of them by its id: so each
 * store has one writer. One that ended is started anew: who waited for it gets UNAVAILABLE, and the heads are where they were.
 */
export class StoresInThreads implements TreeStores {
  readonly #start: () => CallThread<TreeStores>;
  readonly #threads: (CallThread<TreeStores> | undefined)[];

  constructor(
    entry: ThreadEntry,
    options: StoresOptions,
    keeper: HeadKeeper,
    count = threadsOf(availableParallelism()),
  ) {
    const workerData: StoresThreadData = { role: 'tree-stores', options };
    this.#start = () => new CallThread<TreeStores>(entry, workerData, keeper);
    this.#threads = Array.from({ length: count }, () => undefined);
  }

  put(at: Place, path: string, options: UploadOptions, bytes: Uint8Array) {
    return this.#of(at.id).put(at, path, options, bytes);
  }

  upload(at: Place, path: string, options: UploadOptions) {
    return this.#of(at.id).upload(at, path, options);
  }

  remove(at: Place, path: string) {
    return this.#of(at.id).remove(at, path);
  }

  list(at: Place, request: Listing) {
    return this.#of(at.id).list(at, request);
  }

  open(at: Place, path: string) {
    return this.#of(at.id).open(at, path);
  }

  import(at: Place) {
    return this.#of(at.id).import(at);
  }

  export(at: Place, path: string) {
    return this.#of(at.id).export(at, path);
  }

  /** A thread that has ended has nothing open. */
  async forget(id: string): Promise<void> {
    const thread = this.#threads[this.#indexOf(id)];
    if (thread !== undefined && !thread.hasEnded) await thread.remote.forget(id);
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#threads.map(async (thread) => {
        await thread?.remote.close().catch(() => undefined);
        await thread?.end();
      }),
    );
  }

  #of(id: string): TreeStores {
    const index = this.#indexOf(id);
    let thread = this.#threads[index];
    if (thread === undefined || thread.hasEnded) {
      thread = this.#start();
      this.#threads[index] = thread;
    }
    return thread.remote;
  }

  #indexOf(id: string): number {
    return crc32(id) % this.#threads.length;
  }
}

/** The rest is for what runs in sandboxes. */
function threadsOf(cores: number): number {
  return Math.min(MOST, Math.max(1, Math.floor(cores / 2)));
}

import type { MessagePort, Worker } from 'node:worker_threads';
import type { Log } from '../../log.ts';
import { startThread, type ThreadEntry } from '../../threads/thread-entry.ts';
import type { FuseSyncData } from './sync-thread.ts';

/** New objects of a sync thread in MB: it makes few and small ones. */
const YOUNG_MB = 1;

interface Options {
  /** The mounted /dev/fuse. */
  fd: number;
  /** What a thread runs, by the role 'fuse-sync'. */
  entry: ThreadEntry;
  log: Log;
}

/** The sync threads, on the main thread. The caller ends them with `terminate`. */
export class StartedSyncThreads {
  readonly #options: Options;
  readonly #ended: (index: number) => Promise<unknown>;
  readonly #threads = new Set<Worker>();
  #ending = false;

  /** `ended` tells the request worker that a thread has ended by itself, or was not started; rejects if it has ended, too. */
  constructor(options: Options, ended: (index: number) => Promise<unknown>) {
    this.#options = options;
    this.#ended = ended;
  }

  /** Starts a thread. A failure is one of its syncs, and not of the caller. */
  start(index: number, syncs: MessagePort): void {
    // Nobody would end it.
    if (this.#ending) return;
    const data: FuseSyncData = { role: 'fuse-sync', fd: this.#options.fd, syncs };
    let thread: Worker;
    try {
      thread = startThread(this.#options.entry, data, {
        transferList: [syncs],
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
      });
    } catch (err) {
      this.#onEnd(index, err);
      return;
    }
    this.#threads.add(thread);
    let failure: unknown;
    thread.on('error', (err) => {
      failure = err;
    });
    thread.on('exit', () => {
      this.#threads.delete(thread);
      this.#onEnd(index, failure);
    });
  }

  /** Ends all threads, and starts no further one. Does not resolve while one waits for the disk. */
  async terminate(): Promise<void> {
    this.#ending = true;
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }

  #onEnd(index: number, err: unknown): void {
    if (this.#ending) return;
    // When the request worker ends, they end with it.
    const told = () => this.#options.log.error('a sync thread ended, what it was syncing has failed', { err });
    this.#ended(index).then(told, () => undefined);
  }
}

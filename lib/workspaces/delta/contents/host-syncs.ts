import { type Steps, Waiting } from '../../../fuse/connection/steps.ts';
import { SYNC_THREADS } from '../../../fuse/connection/sync-threads.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { EIO, Errno, hostErrno } from '../../../linux/errno.ts';
import { type BackgroundSync, type SyncedFile, type SyncedFiles, syncNow } from './background-sync.ts';

/** Causes below are those of holds and copies. */
const FIRST_CAUSE = 2 ** 40;

const NONE: BegunSync = { files: [] };

/** The files of a sync that has begun. */
export interface BegunSync extends SyncedFiles {
  /** Causes of requests that are answered at its end. A sync thread answers them at once if all files are durable. */
  answers?: readonly number[];
  /** Called when all files are durable, before a later request is handled. Must not throw. */
  synced?(): void;
}

/** A sync that is made when it has its turn. */
export interface HostSync {
  /** Called when the sync begins: returns the files, of which open ones are closed at its end. Throws host errors. */
  open(): BegunSync;
  /** Whether it may begin now; false: at a later `resume`. Absent: always. */
  mayBegin?(): boolean;
  /** Called once at the end, with the error of `open` or the errno of each file (0: durable). */
  done(result: { thrown: unknown } | { errnos: readonly number[] }): void;
}

interface Job {
  id: number;
  owner: object;
  sync: HostSync;
  begun: BegunSync;
  failure: { thrown: unknown } | undefined;
}

/**
 * Makes host files durable in other threads, so that the request worker never waits for a disk. Each owner (a sandbox)
 * has one sync at a time, and owners take turns: one that syncs without end delays no other by more than the
 * syncs that run already.
 */
export class HostSyncs {
  readonly #start: ((sync: BackgroundSync) => void) | undefined;
  readonly #released: (cause: number) => void;
  /** Jobs that wait for their turn, by their owner. The owner whose turn is next is the first. */
  readonly #waiting = new Map<object, Job[]>();
  readonly #running = new Map<number, Job>();
  readonly #busy = new Set<object>();
  #lastCause = FIRST_CAUSE;

  /**
   * `start` starts a sync in another thread, which calls `done` at its end; absent: nothing is added, every sync is made
   * at once. `released` is called with the cause of each job that ended.
   */
  constructor(start: ((sync: BackgroundSync) => void) | undefined, released: (cause: number) => void) {
    this.#start = start;
    this.#released = released;
  }

  /** Whether syncs are made in other threads. */
  get inBackground(): boolean {
    return this.#start !== undefined;
  }

  /** Returns a number that identifies an event. */
  newCause(): number {
    return ++this.#lastCause;
  }

  /** Appends a sync. Returns its cause, which is released after `done`, never before the return. */
  add(owner: object, sync: HostSync): number {
    const job = { id: this.newCause(), owner, sync, begun: NONE, failure: undefined };
    const jobs = this.#waiting.get(owner);
    if (jobs === undefined) this.#waiting.set(owner, [job]);
    else jobs.push(job);
    this.#startNext();
    return job.id;
  }

  /** Starts syncs that may begin now. */
  resume(): void {
    if (this.#waiting.size > 0) this.#startNext();
  }

  /** Called when the other thread has ended a sync; without `reported` the thread itself has ended: no file is durable. */
  done(id: number, reported: readonly number[] | undefined): void {
    const job = this.#running.get(id);
    if (job === undefined) return;
    const errnos = reported ?? job.begun.files.map(() => EIO.errno);
    this.#running.delete(id);
    this.#busy.delete(job.owner);
    closeSynced(job.begun.files);
    if (job.failure === undefined && areDurable(errnos)) job.begun.synced?.();
    job.sync.done(job.failure ?? { errnos });
    this.#released(id);
    this.#startNext();
  }

  #startNext(): void {
    for (const [owner, jobs] of this.#waiting) {
      if (this.#running.size >= SYNC_THREADS) return;
      if (this.#busy.has(owner)) continue;
      const at = jobs.findIndex(({ sync }) => sync.mayBegin?.() ?? true);
      if (at === -1) continue;
      const [job] = jobs.splice(at, 1) as [Job];
      this.#waiting.delete(owner);
      if (jobs.length > 0) this.#waiting.set(owner, jobs);
      this.#run(job);
    }
  }

  #run(job: Job): void {
    this.#busy.add(job.owner);
    this.#running.set(job.id, job);
    try {
      job.begun = job.sync.open();
    } catch (thrown) {
      // Reported at the end, as every other failure.
      job.failure = { thrown };
    }
    const { files, directory, answers } = job.begun;
    this.#start!({ id: job.id, files, ...(directory !== undefined && { directory }), ...(answers && { answers }) });
  }
}

/** The syncs of one owner. */
export class OwnSyncs {
  readonly #all: HostSyncs | undefined;

  constructor(all?: HostSyncs) {
    this.#all = all;
  }

  /** See `HostSyncs`. */
  get inBackground(): boolean {
    return this.#all?.inBackground ?? false;
  }

  newCause(): number {
    return this.#all!.newCause();
  }

  add(sync: HostSync): number {
    return this.#all!.add(this, sync);
  }

  /** Makes host files durable, in steps; see `HostSync.open`. Throws its error, or the first errno. */
  *syncing(open: () => BegunSync): Steps<void> {
    let result: Parameters<HostSync['done']>[0] | undefined;
    const done: HostSync['done'] = (ended) => {
      result = ended;
    };
    if (this.inBackground) yield new Waiting(() => this.add({ open, done }));
    result ??= { errnos: syncAndClose(open()) };
    if ('thrown' in result) throw hostErrno(result.thrown);
    const failed = result.errnos.find((errno) => errno !== 0);
    if (failed !== undefined) throw new Errno(failed);
  }
}

function syncAndClose(begun: BegunSync): number[] {
  try {
    const errnos = syncNow(begun);
    if (areDurable(errnos)) begun.synced?.();
    return errnos;
  } finally {
    closeSynced(begun.files);
  }
}

function areDurable(errnos: readonly number[]): boolean {
  return errnos.every((errno) => errno === 0);
}

/** Closes the files that were opened for a sync. */
export function closeSynced(files: readonly SyncedFile[]): void {
  for (const { file } of files) if (typeof file === 'number') closeQuietly(file);
}

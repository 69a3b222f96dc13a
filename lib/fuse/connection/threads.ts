import { once } from 'node:events';
import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads';
import { errorCode } from '../../linux/errno.ts';
import type { Log } from '../../log.ts';
import { startThread, type ThreadEntry } from '../../threads/thread-entry.ts';
import { decodeError, type WorkerMessage } from './control.ts';
import { ControlClient } from './control-client.ts';
import { Deferred } from './deferred.ts';
import type { FuseNotifierData, WrittenBatch } from './notifier.ts';
import type { FuseWorkerData } from './request-worker.ts';
import { StartedSyncThreads } from './started-sync-threads.ts';

/** Options of the threads of one connection. */
export interface ThreadOptions {
  /** The mounted /dev/fuse. The caller closes it after the threads exited. */
  fd: number;
  /** A non-blocking descriptor of the same connection, if there is one. The caller closes it, too. */
  nonBlockingFd: number | undefined;
  /** What the threads run, by the roles 'fuse', 'fuse-notifier' and 'fuse-sync'. */
  entry: ThreadEntry;
  /** Name of the control node in the root. */
  controlName: string;
  /** Passed to `makeFileSystem` in the request worker, by structured clone. */
  options: unknown;
  /** Of the request worker: that of the programs which use the mount. Absent: that of the calling thread. */
  niceness?: number | undefined;
  /** Called with each event that the file system emits. */
  onEvent: (event: unknown) => void;
  log: Log;
}

/** Why a connection ended. */
export interface ConnectionEnd {
  reason: string;
  /** The request worker exited by itself or hangs: the cause is the request that it was serving. */
  byWorker: boolean;
}

/**
 * The exit of the request worker makes the notifier exit, too, and the exit events can arrive in either order. Time in
 * ms to wait for the request worker's exit event after the notifier's.
 */
const WORKER_END_MS = 200;

/**
 * New objects of the request worker in MB, of which a third is live at most. What an import or a listing collects outlives
 * a collection, which copies it while all sandboxes wait: with the default of 48 for up to 13 ms.
 */
const YOUNG_MB = 6;

/** The request worker, the notifier and the sync threads of one connection. The caller ends them with `stop` or `terminate`. */
export class Threads {
  readonly control: ControlClient;
  readonly #worker: Worker;
  readonly #notifier: Worker;
  readonly #syncThreads: StartedSyncThreads;
  /** The main thread's ends: of the request worker, and of the notifier. */
  readonly #ports: readonly [control: MessagePort, written: MessagePort];
  readonly #ready = new Deferred<void>();
  readonly #ended = new Deferred<ConnectionEnd>();
  readonly #exited: Promise<unknown>;
  readonly #options: ThreadOptions;

  constructor(options: ThreadOptions) {
    this.#options = options;
    const { fd, nonBlockingFd, entry, controlName } = options;
    const control = new MessageChannel();
    const notifications = new MessageChannel();
    const written = new MessageChannel();
    this.control = new ControlClient(fd, control.port1);
    this.#syncThreads = new StartedSyncThreads(options, (index) => this.control.call('syncThreadEnded', index));
    this.#ports = [control.port1, written.port1];
    const workerData: FuseWorkerData = {
      role: 'fuse',
      fd,
      nonBlockingFd,
      controlName,
      controlUid: process.getuid?.() ?? 0,
      niceness: options.niceness,
      control: control.port2,
      notifications: notifications.port1,
      options: options.options,
    };
    const notifierData: FuseNotifierData = {
      role: 'fuse-notifier',
      fd,
      batches: notifications.port2,
      written: written.port2,
    };
    this.#worker = startThread(entry, workerData, {
      transferList: [control.port2, notifications.port1],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#notifier = startThread(entry, notifierData, { transferList: [notifications.port2, written.port2] });
    this.#exited = Promise.all(
      [this.#worker, this.#notifier].map((thread) => new Promise((resolve) => thread.once('exit', resolve))),
    );
    this.#listen();
  }

  /** Resolves when the kernel's INIT was answered and the mount serves requests. Rejects if a thread ends before. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Resolves when the request worker or the notifier has ended, for any reason. Never rejects. */
  get ended(): Promise<ConnectionEnd> {
    return this.#ended.promise;
  }

  /** Resolves when both threads have exited: nothing is written any more. Never rejects. */
  get exited(): Promise<unknown> {
    return this.#exited;
  }

  /**
   * Ends both threads after the request in progress. The notifier ends first, while the request worker still serves the
   * holder of the lock that a notification may wait for. Does not resolve while a thread hangs.
   */
  async stop(): Promise<void> {
    await this.#notifier.terminate();
    const exited = once(this.#worker, 'exit');
    this.control.stop();
    if (this.#worker.threadId !== -1) await exited;
    await this.#syncThreads.terminate();
    for (const port of this.#ports) port.close();
  }

  /** Terminates all threads. A thread blocked in a system call ends only if the connection was aborted. */
  async terminate(): Promise<void> {
    const threads = [this.#notifier, this.#worker, this.#syncThreads];
    await Promise.all(threads.map((thread) => thread.terminate()));
  }

  /**
   * Synchronous `stop` for an 'exit' listener of the process: without it the exit hangs on the request worker in
   * read(2).
   */
  stopAtExit(): void {
    this.control.stop();
  }

  #listen(): void {
    const [control, written] = this.#ports;
    written.on('message', (batch: WrittenBatch) => this.control.onBatchWritten(batch));
    control.on('message', (message: WorkerMessage) => this.#onMessage(message));
    // The exit event can arrive before the last messages of the thread.
    this.#worker.on('exit', () => {
      for (let last = receiveMessageOnPort(control); last; last = receiveMessageOnPort(control)) {
        this.#onMessage(last.message as WorkerMessage);
      }
    });
    this.#onEnd('request worker', this.#worker);
    this.#onEnd('notifier', this.#notifier);
    void this.ended.then(({ reason }) => this.#ready.reject(new Error(reason)));
    this.ready.catch(() => {});
  }

  #onMessage(message: WorkerMessage): void {
    switch (message.kind) {
      case 'ready':
        this.#ready.resolve();
        break;
      case 'answer':
        this.control.onAnswer(message);
        break;
      case 'part':
        this.control.onPart(message.id, message.encoded);
        break;
      case 'event':
        this.#options.onEvent(message.event);
        break;
      case 'startSyncThread':
        this.#syncThreads.start(message.index, message.syncs);
        break;
      case 'defect':
        this.#options.log.error('the file system failed a request', {
          opcode: message.operation,
          err: decodeError(message.error),
        });
        break;
      case 'ended':
        this.#ended.resolve({ reason: `the mount was ${message.reason}`, byWorker: false });
    }
  }

  #onEnd(name: string, thread: Worker): void {
    const byWorker = thread === this.#worker;
    const end = (how: string) => this.#ended.resolve({ reason: `the ${name} ${how}`, byWorker });
    thread.on('error', (err) => {
      this.#options.log.error(`the ${name} failed`, { err });
      end(isOutOfMemory(err) ? 'ran out of memory' : 'failed');
    });
    // The exit of the request worker closes the port of the notifier, which then exits, possibly with the earlier
    // event.
    thread.on('exit', () => (byWorker ? end('ended') : void setTimeout(() => end('ended'), WORKER_END_MS)));
  }
}

function isOutOfMemory(error: unknown): boolean {
  return errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
}

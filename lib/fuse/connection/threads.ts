import { once } from 'node:events';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Log } from '../../log.ts';
import { decodeError, type WorkerMessage } from './control.ts';
import { ControlClient } from './control-client.ts';
import { Deferred } from './deferred.ts';
import type { FuseNotifierData } from './notifier.ts';
import type { FuseWorkerData } from './request-worker.ts';

/** Options of `startThreads`. */
export interface ThreadOptions {
  /** The mounted /dev/fuse. The caller closes it after the threads exited. */
  fd: number;
  /** A non-blocking descriptor of the same connection, if there is one. The caller closes it, too. */
  nonBlockingFd: number | undefined;
  /** Module that runs the worker threads; it selects the thread by `workerData.role`. */
  entry: URL;
  /** Name of the control node in the root. */
  controlName: string;
  /** Passed to `makeFileSystem` in the request worker, by structured clone. */
  options: unknown;
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

/** The request worker and the notifier of one connection. */
export interface Threads {
  control: ControlClient;
  /** Resolves when the kernel's INIT was answered and the mount serves requests. Rejects if a thread ends before. */
  ready: Promise<void>;
  /** Resolves when either thread has ended, for any reason. Never rejects. */
  ended: Promise<ConnectionEnd>;
  /** Resolves when both threads have exited: nothing is written any more. Never rejects. */
  exited: Promise<unknown>;
  /**
   * Ends both threads after the request in progress. The notifier ends first, while the request worker still serves the
   * holder of the lock that a notification may wait for. Does not resolve while a thread hangs.
   */
  stop(): Promise<void>;
  /** Terminates both threads. A thread blocked in a system call ends only if the connection was aborted. */
  terminate(): Promise<void>;
  /**
   * Synchronous `stop` for an 'exit' listener of the process: without it the exit hangs on the request worker in
   * read(2).
   */
  stopAtExit(): void;
}

/** Starts the request worker and the notifier. The caller ends them with `stop` or `terminate`. */
export function startThreads(options: ThreadOptions): Threads {
  const { fd, nonBlockingFd, entry, controlName, log } = options;
  const control = new MessageChannel();
  const notifications = new MessageChannel();
  const written = new MessageChannel();
  const client = new ControlClient(fd, control.port1);
  const workerData: FuseWorkerData = {
    role: 'fuse',
    fd,
    nonBlockingFd,
    controlName,
    controlUid: process.getuid?.() ?? 0,
    control: control.port2,
    notifications: notifications.port1,
    options: options.options,
  };
  const notifierData: FuseNotifierData = {
    role: 'fuse-notifier',
    fd,
    batches: notifications.port2,
    written: written.port1,
  };
  const worker = new Worker(entry, { workerData, transferList: [control.port2, notifications.port1], execArgv: [] });
  const notifier = new Worker(entry, {
    workerData: notifierData,
    transferList: [notifications.port2, written.port1],
    execArgv: [],
  });

  const ready = new Deferred<void>();
  const ended = new Deferred<ConnectionEnd>();
  written.port2.on('message', (batch: number) => client.onBatchWritten(batch));
  const received = (message: WorkerMessage) => {
    switch (message.kind) {
      case 'ready':
        return ready.resolve();
      case 'answer':
        return client.onAnswer(message);
      case 'part':
        return client.onPart(message.id, message.value);
      case 'event':
        return options.onEvent(message.event);
      case 'defect':
        return log.error('the file system failed a request', {
          opcode: message.operation,
          err: decodeError(message.error),
        });
      case 'ended':
        return ended.resolve({ reason: `the mount was ${message.reason}`, byWorker: false });
    }
  };
  control.port1.on('message', received);
  // The exit event can arrive before the last messages of the thread.
  worker.on('exit', () => {
    for (let last = receiveMessageOnPort(control.port1); last; last = receiveMessageOnPort(control.port1))
      received(last.message as WorkerMessage);
  });
  for (const [name, thread] of Object.entries({ 'request worker': worker, notifier })) {
    const end = (how: string) => ended.resolve({ reason: `the ${name} ${how}`, byWorker: thread === worker });
    thread.on('error', (err) => {
      log.error(`the ${name} failed`, { err });
      end(isOutOfMemory(err) ? 'ran out of memory' : 'failed');
    });
    // The exit of the request worker closes the port of the notifier, which then exits, possibly with the earlier
    // event.
    thread.on('exit', () => (thread === worker ? end('ended') : void setTimeout(() => end('ended'), WORKER_END_MS)));
  }
  const exited = Promise.all(
    [worker, notifier].map((thread) => new Promise((resolve) => thread.once('exit', resolve))),
  );
  void ended.promise.then(({ reason }) => ready.reject(new Error(reason)));
  ready.promise.catch(() => {});

  const threads: Threads = {
    control: client,
    ready: ready.promise,
    ended: ended.promise,
    exited,
    async stop() {
      await notifier.terminate();
      const exited = once(worker, 'exit');
      client.stop();
      if (worker.threadId !== -1) await exited;
      for (const port of [control.port1, written.port2]) port.close();
    },
    async terminate() {
      await Promise.all([notifier.terminate(), worker.terminate()]);
    },
    stopAtExit: () => client.stop(),
  };
  return threads;
}

function isOutOfMemory(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
}

import { once } from 'node:events';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Log } from '../../log.ts';
import { decodeError, type WorkerMessage } from './control.ts';
import { ControlClient } from './control-client.ts';
import { Deferred } from './deferred.ts';
import type { FuseNotifierData } from './notifier.ts';
import type { FuseWorkerData } from './request-worker.ts';

export interface ThreadOptions {
  /** /dev/fuse, mounted. */
  fd: number;
  eagerFd: number | undefined;
  /** Module that runs the workers, by the role in their workerData. */
  entry: URL;
  controlName: string;
  /** For the maker of the file system, in the request worker. */
  options: unknown;
  /** Called with each event that the file system emits. */
  onEvent: (event: unknown) => void;
  log: Log;
}

/** Why a connection ended. */
export interface ConnectionEnd {
  reason: string;
  /** The request worker ended by itself or hangs: what it was doing is the cause. */
  byWorker: boolean;
}

/** How much earlier than the request worker's end that of the notifier may be told. */
const WORKER_END_MS = 200;

/** The request worker and the notifier of one connection. */
export interface Threads {
  control: ControlClient;
  /** Settles when the kernel's INIT was answered: from then on the mount serves. */
  ready: Promise<void>;
  /** Settles when either thread has ended, for whatever reason. */
  ended: Promise<ConnectionEnd>;
  /** Settles when both threads have ended: nothing is written any more. */
  gone: Promise<unknown>;
  /**
   * Ends both threads at the end of what they are doing. The notifier goes first: the request worker still serves
   * whoever holds the lock that a notification waits for. Pending for as long as a thread hangs.
   */
  stop(): Promise<void>;
  /** Ends both wherever they are; out of a system call only when the connection was aborted. */
  terminate(): Promise<void>;
  /** The same for an 'exit' listener of the process, which cannot wait: else the exit hangs on the parked worker. */
  stopAtExit(): void;
}

export function startThreads(options: ThreadOptions): Threads {
  const { fd, eagerFd, entry, controlName, log } = options;
  const control = new MessageChannel();
  const notifications = new MessageChannel();
  const written = new MessageChannel();
  const client = new ControlClient(fd, control.port1);
  const workerData: FuseWorkerData = {
    role: 'fuse',
    fd,
    eagerFd,
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
  written.port2.on('message', (batch: number) => client.batchWritten(batch));
  const received = (message: WorkerMessage) => {
    switch (message.kind) {
      case 'ready':
        return ready.resolve();
      case 'answer':
        return client.answered(message);
      case 'part':
        return client.part(message.id, message.value);
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
  // The thread's end overtakes its last messages.
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
    // The worker's end closes the notifier's port and so ends the notifier, which may be heard of first.
    thread.on('exit', () => (thread === worker ? end('ended') : void setTimeout(() => end('ended'), WORKER_END_MS)));
  }
  const gone = Promise.all([worker, notifier].map((thread) => new Promise((resolve) => thread.once('exit', resolve))));
  void ended.promise.then(({ reason }) => ready.reject(new Error(reason)));
  ready.promise.catch(() => {});

  const threads: Threads = {
    control: client,
    ready: ready.promise,
    ended: ended.promise,
    gone,
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

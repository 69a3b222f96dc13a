import { readlinkSync } from 'node:fs';
import { availableParallelism, setPriority } from 'node:os';
import { basename } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { ControlNode } from '../session/control-node.ts';
import { ParentDirectories } from '../session/parent-directories.ts';
import { REQUEST_SIZE, Session, type SessionEvents } from '../session/session.ts';
import { type ControlledFileSystem, encodeError, type FileSystemHost } from './control.ts';
import { ControlOperations } from './control-operations.ts';
import { descriptor, refuseInterrupted, serve } from './device.ts';
import { HeldRequests } from './held-requests.ts';
import { LateReplies } from './late-replies.ts';
import { NotificationQueue } from './notification-queue.ts';
import { PolledDevice } from './polled-device.ts';
import { RequestReader } from './request-reader.ts';
import type { ReadRequest } from './request-records.ts';
import { SyncThreads } from './sync-threads.ts';
import { WaitQueue } from './wait-queue.ts';

/** workerData of the request worker. */
export interface FuseWorkerData {
  role: 'fuse';
  /** The mounted /dev/fuse. The main thread owns it. */
  fd: number;
  /** A non-blocking descriptor of the same connection, if there is one. */
  nonBlockingFd: number | undefined;
  /** Name of the control node in the root, and the uid that can look it up. */
  controlName: string;
  controlUid: number;
  /** See `ThreadOptions`. */
  niceness: number | undefined;
  /** Receives `ControlRequest`, sends `WorkerMessage`. */
  control: MessagePort;
  /** Sends `NotificationBatch` to the notifier thread. */
  notifications: MessagePort;
  /** Passed to `makeFileSystem`. */
  options: unknown;
}

/**
 * Runs the request worker: the thread that owns the file system and serves the kernel until the mount ends or `stop` is
 * called. It blocks in read(2) and has no event loop: control requests are received when the control node wakes it.
 * File systems must use *Sync calls only (a promise never settles here) and must not access the mount.
 */
export function serveRequests(
  data: FuseWorkerData,
  makeFileSystem: (host: FileSystemHost, options: unknown) => ControlledFileSystem,
): void {
  const parents = new ParentDirectories();
  const notifications = new NotificationQueue(data.notifications, data.fd, parents);
  const requests = new WaitQueue<ReadRequest>();
  const late = new LateReplies();
  const control = new ControlOperations(data.control, data.fd, notifications);
  const syncs = new SyncThreads(late, (index) => {
    const { port1, port2 } = new MessageChannel();
    control.post({ kind: 'startSyncThread', index, syncs: port2 }, [port2]);
    return port1;
  });
  const host: FileSystemHost = {
    notifier: notifications,
    emit: (event) => control.post({ kind: 'event', event }),
    startSteps: (steps) => control.startSteps(steps),
    release: (cause) => {
      control.release(cause);
      requests.release(cause);
    },
    startSync: (sync) => syncs.start(sync),
    answer: (cause, error) => late.answer(cause, error),
  };
  const fileSystem = makeFileSystem(host, data.options);
  const synced = (id: number, errnos: readonly number[] | undefined) => fileSystem.synced?.(id, errnos);
  control.connect(fileSystem, (index) => syncs.threadEnded(index, synced));
  const events: SessionEvents = {
    onInit: ({ minor }) => control.post({ kind: 'ready', minor }),
    onDefect: (operation, thrown) => control.post({ kind: 'defect', operation, error: encodeError(thrown) }),
    onWake: (unique) => {
      syncs.receive(synced);
      control.wake(unique);
    },
  };
  const polled = data.nonBlockingFd === undefined ? undefined : PolledDevice.open(data.nonBlockingFd, REQUEST_SIZE);
  const controlNode = new ControlNode(data.controlName, data.controlUid);
  const session = new Session(fileSystem, controlNode, events, parents, polled?.buffer);

  if (data.niceness !== undefined) setNiceness(data.niceness);
  const nonBlocking = polled ?? (data.nonBlockingFd === undefined ? undefined : descriptor(data.nonBlockingFd));
  // With one CPU polling only keeps the requesting program from running.
  const polls = availableParallelism() > 1;
  const workAhead = () => fileSystem.workAhead?.() ?? false;
  const reader = new RequestReader(descriptor(data.fd), nonBlocking, workAhead, polls);
  const held = new HeldRequests(reader, session, refuseInterrupted, polled?.second);
  const reason = serve(held, session, requests, late, () => {
    fileSystem.requestEnded();
    syncs.flush();
    notifications.flush();
    control.requestContinue();
    return !control.stopped;
  });
  control.post({ kind: 'ended', reason });
}

/**
 * Gives this thread the priority of programs. It sleeps after most requests, so the scheduler lets it run soon after each
 * wake-up. With a higher priority it and the programs that wait for it keep a CPU to themselves: while one sandbox looks up
 * names, other threads wait for that CPU for up to a second. On Linux setpriority(2) with a thread id affects that thread only.
 */
function setNiceness(niceness: number): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), niceness);
  } catch {
    // Not permitted, or no /proc. Only speed depends on it.
  }
}

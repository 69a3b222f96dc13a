import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { Postponed } from '../filesystem.ts';
import { encodeRetrieveNothing } from '../protocol/notifications.ts';
import { CONTROL_NODEID, ControlNode } from '../session/control-node.ts';
import { ParentDirectories } from '../session/parent-directories.ts';
import { Session, type SessionEvents } from '../session/session.ts';
import {
  type ControlError,
  type ControlledFileSystem,
  type ControlRequest,
  encodeError,
  type FileSystemHost,
  type WorkerMessage,
} from './control.ts';
import { descriptor, type PostponedRequest, serve } from './device.ts';
import { NotificationQueue } from './notification-queue.ts';
import { RequestReader } from './request-reader.ts';
import type { Steps } from './steps.ts';
import { Tasks } from './tasks.ts';
import { WaitQueue } from './wait-queue.ts';
import { writeDevice } from './write-device.ts';

/** `unique` of the wake-up by which this thread continues its tasks. */
const CONTINUE_TASKS = 2;
/** How long that wake-up is retried, in ms. */
const RETRY_MS = 20;

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
  const post = (message: WorkerMessage) => data.control.postMessage(message);
  const parents = new ParentDirectories();
  const notifications = new NotificationQueue(data.notifications, data.fd, parents);
  const requests = new WaitQueue<PostponedRequest>();
  const controls = new WaitQueue<ControlRequest>();
  const release = (cause: number) => {
    controls.release(cause);
    requests.release(cause);
  };
  const tasks = new Tasks();
  const startSteps = (steps: Steps<unknown>) =>
    tasks.add({
      steps,
      part: () => undefined,
      done: () => undefined,
      failed: (thrown) => post({ kind: 'defect', operation: 0, error: encodeError(thrown) }),
    });
  const fileSystem = makeFileSystem(
    { notifier: notifications, emit: (event) => post({ kind: 'event', event }), startSteps, release },
    data.options,
  );
  const errorOf = (thrown: unknown) => encodeError(fileSystem.toError(thrown));
  const continueMessage = encodeRetrieveNothing(CONTROL_NODEID, CONTINUE_TASKS);
  let continuePending = false;
  let serving = true;

  const events: SessionEvents = {
    onInit: ({ minor }) => post({ kind: 'ready', minor }),
    onDefect: (operation, thrown) => post({ kind: 'defect', operation, error: encodeError(thrown) }),
    onWake: (unique) => {
      if (unique === CONTINUE_TASKS) {
        continuePending = false;
        tasks.run();
        retryPostponed();
      }
      for (;;) {
        const mail = receiveMessageOnPort(data.control) as { message: ControlRequest } | undefined;
        if (!mail) return;
        control(mail.message);
        retryPostponed();
      }
    },
  };
  const session = new Session(fileSystem, new ControlNode(data.controlName, data.controlUid), events, parents);

  const retryPostponed = () => {
    for (let again = controls.next(); again !== undefined; again = controls.next()) control(again);
  };

  /**
   * Wakes this thread once more after all pending requests, whichever descriptor they come by, so that those are served
   * before the next slice of a task.
   */
  const requestContinue = () => {
    if (tasks.size === 0 || continuePending) return;
    try {
      writeDevice(data.fd, continueMessage, 0, continueMessage.length, RETRY_MS);
      continuePending = true;
    } catch {
      // Either the connection has ended, which the next read(2) reports, or the next request (at the latest the
      // watchdog's ping) tries again.
    }
  };

  const control = (request: ControlRequest) => {
    const { id, operation, args } = request;
    if (operation === 'stop') serving = false;
    const answer = run(fileSystem, operation, args);
    fileSystem.operationEnded();
    if (answer instanceof Postponed) {
      controls.add(answer.cause, request);
      return;
    }
    if ('steps' in answer) {
      tasks.begin({
        steps: answer.steps,
        part: (value) => post({ kind: 'part', id, value }),
        done: (value) => reply(id, { value }),
        failed: (thrown) => {
          if (thrown instanceof Postponed) controls.add(thrown.cause, request);
          else reply(id, { error: errorOf(thrown) });
        },
      });
      fileSystem.operationEnded();
      return;
    }
    reply(id, answer);
  };

  const reply = (id: number, answer: { value: unknown } | { error: ControlError }) => {
    notifications.flush();
    const { lastBatch: batch } = notifications;
    try {
      post({ kind: 'answer', id, ...answer, batch });
    } catch (thrown) {
      // The result cannot be cloned.
      post({ kind: 'answer', id, error: encodeError(thrown), batch });
    }
  };

  raisePriority();
  const nonBlocking = data.nonBlockingFd === undefined ? undefined : descriptor(data.nonBlockingFd);
  const reason = serve(new RequestReader(descriptor(data.fd), nonBlocking), session, requests, () => {
    fileSystem.requestEnded();
    notifications.flush();
    requestContinue();
    return serving;
  });
  post({ kind: 'ended', reason });
}

function run(
  fileSystem: ControlledFileSystem,
  operation: string,
  args: readonly unknown[],
): { value: unknown } | { error: ControlError } | { steps: Steps<unknown> } | Postponed {
  try {
    if (operation === 'ping' || operation === 'stop') return { value: undefined };
    const steps = fileSystem.begin(operation, args);
    return steps === undefined ? { value: fileSystem.control(operation, args) } : { steps };
  } catch (thrown) {
    if (thrown instanceof Postponed) return thrown;
    return { error: encodeError(fileSystem.toError(thrown)) };
  }
}

/**
 * Raises the priority of this thread, where permitted: every program that uses the file system waits for it, and it
 * never runs longer than a request takes. On Linux setpriority(2) with a thread id affects that thread only.
 */
function raisePriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_HIGH);
  } catch {
    // Not permitted, or no /proc. Only speed depends on it.
  }
}

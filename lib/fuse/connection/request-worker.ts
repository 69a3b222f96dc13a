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
import { Waiting } from './waiting.ts';
import { writeDevice } from './write-device.ts';

/** Of this thread's message to itself, to go on with tasks. */
const GO_ON = 2;
/** How long that message is retried. */
const PATIENCE_MS = 20;

/** What the main thread starts the request worker with. */
export interface FuseWorkerData {
  role: 'fuse';
  /** /dev/fuse, mounted; owned by the main thread. */
  fd: number;
  /** Another descriptor of the connection, which does not block, if there is one. */
  eagerFd: number | undefined;
  /** Name of the control node in the root, and the uid that may find it. */
  controlName: string;
  controlUid: number;
  /** ControlRequest in, WorkerMessage out. */
  control: MessagePort;
  /** NotificationBatch out, to the notifier thread. */
  notifications: MessagePort;
  /** For the maker of the file system. */
  options: unknown;
}

/**
 * The thread that owns the file system and serves the kernel until the mount ends. It sleeps in read(2), so it has no
 * event loop: control requests are fetched when the control node wakes it. Uses only *Sync calls (a promise would never
 * settle) and must not touch the mount.
 */
export function serveRequests(
  data: FuseWorkerData,
  makeFileSystem: (host: FileSystemHost, options: unknown) => ControlledFileSystem,
): void {
  const post = (message: WorkerMessage) => data.control.postMessage(message);
  const parents = new ParentDirectories();
  const notifications = new NotificationQueue(data.notifications, data.fd, parents);
  const requests = new Waiting<PostponedRequest>();
  const controls = new Waiting<ControlRequest>();
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
  const goOn = encodeRetrieveNothing(CONTROL_NODEID, GO_ON);
  let goingOn = false;
  let serving = true;

  const events: SessionEvents = {
    onInit: ({ minor }) => post({ kind: 'ready', minor }),
    onDefect: (operation, thrown) => post({ kind: 'defect', operation, error: encodeError(thrown) }),
    onWake: (unique) => {
      if (unique === GO_ON) {
        goingOn = false;
        tasks.run();
        runAgain();
      }
      for (;;) {
        const mail = receiveMessageOnPort(data.control) as { message: ControlRequest } | undefined;
        if (!mail) return;
        control(mail.message);
        runAgain();
      }
    },
  };
  const session = new Session(fileSystem, new ControlNode(data.controlName, data.controlUid), events, parents);

  const runAgain = () => {
    for (let again = controls.next(); again !== undefined; again = controls.next()) control(again);
  };

  /**
   * The message to itself comes behind every request that waits already: whoever asked something meanwhile is served
   * before the next slice, whichever descriptor it came by.
   */
  const keepGoing = () => {
    if (tasks.size === 0 || goingOn) return;
    try {
      writeDevice(data.fd, goOn, 0, goOn.length, PATIENCE_MS);
      goingOn = true;
    } catch {
      // Either the connection has ended, which the next read reports, or the next request, at the latest the watchdog's,
      // tries again.
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
      // A value that cannot be cloned.
      post({ kind: 'answer', id, error: encodeError(thrown), batch });
    }
  };

  goFirst();
  const eager = data.eagerFd === undefined ? undefined : descriptor(data.eagerFd);
  const reason = serve(new RequestReader(descriptor(data.fd), eager), session, requests, () => {
    fileSystem.requestEnded();
    notifications.flush();
    keepGoing();
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
 * Everyone who waits for the file system waits for this thread, and it never runs longer than a request takes: where
 * that is allowed it goes before the programs that keep the processors busy. Linux has a priority for each thread.
 */
function goFirst(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_HIGH);
  } catch {
    // Not allowed, or no /proc: it is only faster.
  }
}

import { serialize } from 'node:v8';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { Postponed } from '../filesystem.ts';
import { encodeRetrieveNothing } from '../protocol/notifications.ts';
import { CONTROL_NODEID } from '../session/control-node.ts';
import {
  type ControlError,
  type ControlledFileSystem,
  type ControlRequest,
  encodeError,
  type WorkerMessage,
} from './control.ts';
import { type ListPiece, ReceivedLists } from './long-arguments.ts';
import type { NeededBatches, NotificationQueue } from './notification-queue.ts';
import type { Steps } from './steps.ts';
import { Tasks } from './tasks.ts';
import { WaitQueue } from './wait-queue.ts';
import { writeDevice } from './write-device.ts';

/** `unique` of the wake-up by which this thread continues its tasks. */
const CONTINUE_TASKS = 2;
/** Pieces of lists that are received in one go: some milliseconds. */
const PIECES = 4;
const NO_BATCHES: NeededBatches = { batch: 0, late: 0 };
/** How long that wake-up is retried, in ms. */
const RETRY_MS = 20;

/**
 * The control operations of the main thread and the long tasks, on the request worker. They run between the kernel's
 * requests. The thread blocks in read(2), so each is received, and each slice of a task run, when the control node is
 * woken.
 */
export class ControlOperations {
  readonly #port: MessagePort;
  readonly #fd: number;
  readonly #notifications: NotificationQueue;
  readonly #postponed = new WaitQueue<ControlRequest>();
  readonly #tasks = new Tasks();
  readonly #lists = new ReceivedLists();
  readonly #continueMessage = encodeRetrieveNothing(CONTROL_NODEID, CONTINUE_TASKS);
  #continuePending = false;
  /** Whether messages may be left that no wake-up stands for. */
  #moreMail = false;
  #fileSystem!: ControlledFileSystem;
  #syncThreadEnded!: (index: number) => void;
  #stopped = false;

  /** `port` receives `ControlRequest` and sends `WorkerMessage`; `fd` is the mounted /dev/fuse. */
  constructor(port: MessagePort, fd: number, notifications: NotificationQueue) {
    this.#port = port;
    this.#fd = fd;
    this.#notifications = notifications;
  }

  /** Call once, before the first request. The file system itself is made with `startSteps`. */
  connect(fileSystem: ControlledFileSystem, syncThreadEnded: (index: number) => void): void {
    this.#fileSystem = fileSystem;
    this.#syncThreadEnded = syncThreadEnded;
  }

  /** Whether `stop` was called. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Posts a message to the main thread, with its ports. Throws for a value that cannot be cloned. */
  post(message: WorkerMessage, ports: readonly MessagePort[] = []): void {
    this.#port.postMessage(message, ports);
  }

  /** Runs work of the file system that no caller waits for. Its failure is reported as a defect. */
  startSteps(steps: Steps<unknown>): void {
    this.#tasks.add({
      steps,
      part: () => undefined,
      done: () => undefined,
      failed: (thrown) => this.post({ kind: 'defect', operation: 0, error: encodeError(thrown) }),
    });
  }

  /** Tasks that wait for `cause` continue; operations that were postponed for it are retried by the next `wake`. */
  release(cause: number): void {
    this.#tasks.release(cause);
    this.#postponed.release(cause);
  }

  /** The control node was woken: runs a slice of a task, if that is what `unique` stands for, and receives requests. */
  wake(unique: number): void {
    if (unique === CONTINUE_TASKS) {
      this.#continuePending = false;
      this.#tasks.run();
      this.#retryPostponed();
    }
    // A sync that has ended may have released some.
    this.#retryPostponed();
    this.#moreMail = false;
    for (let pieces = 0; pieces < PIECES; ) {
      const mail = receiveMessageOnPort(this.#port) as { message: ControlRequest | ListPiece } | undefined;
      if (!mail) return;
      if ('list' in mail.message) {
        this.#lists.add(mail.message);
        pieces++;
        continue;
      }
      this.#handle({ ...mail.message, args: this.#lists.complete(mail.message.args) });
      this.#retryPostponed();
    }
    this.#moreMail = true;
  }

  /**
   * Wakes this thread once more, if a task is unfinished or messages are left. The wake-up comes after all pending requests, whichever
   * descriptor they come by, so that those are served before the next slice.
   */
  requestContinue(): void {
    if ((this.#tasks.size === 0 && !this.#moreMail) || this.#continuePending) return;
    try {
      writeDevice(this.#fd, this.#continueMessage, 0, this.#continueMessage.length, RETRY_MS);
      this.#continuePending = true;
    } catch {
      // Either the connection has ended, which the next read(2) reports, or the next request (at the latest the
      // watchdog's ping) tries again.
    }
  }

  #retryPostponed(): void {
    for (let request = this.#postponed.next(); request !== undefined; request = this.#postponed.next()) {
      this.#handle(request);
    }
  }

  #handle(request: ControlRequest): void {
    const { id, operation, args } = request;
    if (operation === 'stop') this.#stopped = true;
    const subject = this.#fileSystem.subjectOf?.(args);
    const answer = this.#run(operation, args);
    this.#fileSystem.operationEnded();
    if (answer instanceof Postponed) {
      this.#postponed.add(answer.cause, request);
    } else if ('steps' in answer) {
      this.#tasks.begin({
        steps: subject === undefined ? answer.steps : this.#notifications.tellingLate(subject, answer.steps),
        part: (value) => this.post({ kind: 'part', id, encoded: serialize(value) }),
        done: (value) => this.#reply(request, subject, { value }),
        failed: (thrown) => {
          if (thrown instanceof Postponed) this.#postponed.add(thrown.cause, request);
          else this.#reply(request, subject, { error: this.#errorOf(thrown) });
        },
      });
      this.#fileSystem.operationEnded();
    } else {
      this.#reply(request, subject, answer);
    }
  }

  #run(
    operation: string,
    args: readonly unknown[],
  ): { value: unknown } | { error: ControlError } | { steps: Steps<unknown> } | Postponed {
    try {
      if (operation === 'syncThreadEnded') this.#syncThreadEnded(args[0] as number);
      if (operation === 'ping' || operation === 'stop' || operation === 'syncThreadEnded') return { value: undefined };
      const steps = this.#fileSystem.begin(operation, args);
      return steps === undefined ? { value: this.#fileSystem.control(operation, args) } : { steps };
    } catch (thrown) {
      return thrown instanceof Postponed ? thrown : { error: this.#errorOf(thrown) };
    }
  }

  #reply(
    { id, operation, args }: ControlRequest,
    subject: string | undefined,
    answer: { value: unknown } | { error: ControlError },
  ): void {
    this.#notifications.flush();
    const atOnce = this.#fileSystem.answersAtOnce?.(operation, args) === true;
    const needed = atOnce ? NO_BATCHES : this.#notifications.needed(subject);
    try {
      this.post({ kind: 'answer', id, ...answer, ...needed });
    } catch (thrown) {
      // The result cannot be cloned.
      this.post({ kind: 'answer', id, error: encodeError(thrown), ...needed });
    }
  }

  #errorOf(thrown: unknown): ControlError {
    return encodeError(this.#fileSystem.toError(thrown));
  }
}

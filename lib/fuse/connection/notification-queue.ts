import type { MessagePort } from 'node:worker_threads';
import type { ByteString } from '../../byte-string.ts';
import type { Notifier } from '../filesystem.ts';
import { encodeInvalAttributes, INVAL_INODE_SIZE } from '../protocol/notifications.ts';
import { ROOT_NODEID } from '../protocol/opcodes.ts';
import { type ParentDirectories, WORKSPACE_NAME } from '../session/parent-directories.ts';
import { NotificationBuffer } from './notification-buffer.ts';
import { type NotificationBatch, writeNotifications } from './notifier.ts';
import type { Steps } from './steps.ts';

/** How long the request worker retries a notification, in ms; all sandboxes wait in the meantime. */
const RETRY_MS = 20;
/** Notifications of one operation, the first ones, that are written with those of others: less than a millisecond. */
const PROMPT = 128;
/** Subjects whose last late batch is known. */
const SUBJECTS = 64;

/** The batches that must be written before an answer is delivered. */
export interface NeededBatches {
  batch: number;
  late: number;
}

/**
 * Collects notifications in the request worker and posts them to the notifier thread. The request worker must not write
 * them itself: FUSE_NOTIFY_INVAL_ENTRY and the invalidation of pages wait in write(2) for requests that only the
 * request worker can serve.
 *
 * An operation can have a million of them, which take seconds. All but its first ones are late: the notifier thread
 * writes prompt ones in between, and only answers of operations about the same subject wait for them.
 */
export class NotificationQueue implements Notifier {
  readonly #port: MessagePort;
  readonly #fd: number;
  readonly #parents: ParentDirectories;
  readonly #immediate = Buffer.alloc(INVAL_INODE_SIZE);
  readonly #prompt = new NotificationBuffer();
  readonly #late = new NotificationBuffer();
  /** Numbers of the last batches. */
  #batch = 0;
  #lateBatch = 0;
  /** The operation that runs in steps. */
  #running: { subject: string; told: number } | undefined;
  /** The last late batches by their subjects, oldest first. */
  readonly #lateOf = new Map<string, number>();
  /** The last late batch of all other subjects. */
  #lateOfOthers = 0;

  /** `port`: to the notifier thread; `fd`: the device. The caller owns both. */
  constructor(port: MessagePort, fd: number, parents: ParentDirectories) {
    this.#port = port;
    this.#parents = parents;
    this.#fd = fd;
  }

  /** What an answer of an operation about `subject` (undefined: about several, or none) waits for. */
  needed(subject: string | undefined): NeededBatches {
    const late = subject === undefined ? 0 : (this.#lateOf.get(subject) ?? this.#lateOfOthers);
    return { batch: this.#batch, late };
  }

  /** Runs the steps of an operation about `subject`, of whose notifications all but the first ones are late. */
  *tellingLate<T>(subject: string, steps: Steps<T>): Steps<T> {
    const running = { subject, told: 0 };
    for (;;) {
      this.#running = running;
      let result: IteratorResult<unknown, T>;
      try {
        result = steps.next();
      } finally {
        this.#running = undefined;
      }
      if (result.done) return result.value;
      yield result.value;
    }
  }

  invalInode(nodeid: number): void {
    this.#next().invalInode(nodeid);
  }

  /** In the root a name is a whole workspace, whose dentry the kernel must drop at once. Other names only expire. */
  invalEntry(parent: number, name: ByteString): void {
    if (parent !== ROOT_NODEID) {
      this.#next().invalEntry(parent, name, true);
      return;
    }
    const directory = this.#parents.remove(name);
    if (directory !== undefined) this.#next().invalEntry(directory, WORKSPACE_NAME, false);
  }

  dropEntry(parent: number, name: ByteString): void {
    this.#next().invalEntry(parent, name, false);
  }

  invalAttributesNow(nodeid: number): void {
    encodeInvalAttributes(this.#immediate, 0, nodeid);
    writeNotifications(this.#fd, this.#immediate, RETRY_MS);
  }

  /** Posts the collected notifications. Call it when their changes are in effect. */
  flush(): void {
    const prompt = this.#prompt.take();
    if (prompt !== undefined) this.#post({ batch: ++this.#batch, late: false, bytes: prompt });
    const late = this.#late.take();
    if (late !== undefined) this.#post({ batch: ++this.#lateBatch, late: true, bytes: late });
  }

  #post(message: NotificationBatch): void {
    this.#port.postMessage(message, [message.bytes.buffer]);
  }

  /** The buffer of the next notification. */
  #next(): NotificationBuffer {
    const running = this.#running;
    if (running === undefined || ++running.told <= PROMPT) return this.#prompt;
    this.#recordLate(running.subject, this.#lateBatch + 1);
    return this.#late;
  }

  #recordLate(subject: string, batch: number): void {
    if (this.#lateOf.get(subject) === batch) return;
    this.#lateOf.delete(subject);
    this.#lateOf.set(subject, batch);
    if (this.#lateOf.size <= SUBJECTS) return;
    const [oldest, last] = this.#lateOf.entries().next().value!;
    this.#lateOf.delete(oldest);
    this.#lateOfOthers = last;
  }
}

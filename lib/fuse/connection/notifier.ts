import type { MessagePort } from 'node:worker_threads';
import { errorCode } from '../../linux/errno.ts';
import { writeDevice } from './write-device.ts';

/**
 * Complete notification messages, each with its own length, back to back. The late and the other batches are numbered and
 * written in order, each for themselves.
 */
export interface NotificationBatch {
  batch: number;
  /** Written while there are no others. */
  late: boolean;
  bytes: Uint8Array<ArrayBuffer>;
}

/** A batch is written, or the connection has ended. */
export type WrittenBatch = Pick<NotificationBatch, 'batch' | 'late'>;

/**
 * How long a notification is retried, in ms. After that the thread exits, and the mount is removed, because the
 * kernel's caches are stale.
 */
const RETRY_MS = 10_000;
/** Late notifications that are written in one go: some tenths of a millisecond. */
const LATE_AT_ONCE = 64;

/** workerData of the notifier thread. */
export interface FuseNotifierData {
  role: 'fuse-notifier';
  fd: number;
  /** Receives `NotificationBatch` from the request worker. */
  batches: MessagePort;
  /** Sends `WrittenBatch`. */
  written: MessagePort;
}

/**
 * Runs the notifier thread, which writes invalidations to the device. It may block in write(2) on a directory's lock
 * while the request worker serves the lock's holder; only calls of the main thread wait for it.
 */
export function serveNotifications({ fd, batches, written }: FuseNotifierData): void {
  // ENOENT is frequent, and capturing stack traces for it would cost more than the notifications.
  Error.stackTraceLimit = 0;
  const tell = (message: WrittenBatch) => written.postMessage(message);
  const late = new LateBatches(fd, tell);
  batches.on('message', (message: NotificationBatch) => {
    if (message.late) {
      late.add(message);
      return;
    }
    writeNotifications(fd, bufferOf(message), RETRY_MS);
    tell({ batch: message.batch, late: false });
  });
}

/** Writes late batches, some notifications at a time; others that have arrived are written in between. */
class LateBatches {
  readonly #fd: number;
  readonly #tell: (written: WrittenBatch) => void;
  readonly #waiting: { batch: number; messages: Buffer; at: number }[] = [];

  constructor(fd: number, tell: (written: WrittenBatch) => void) {
    this.#fd = fd;
    this.#tell = tell;
  }

  add(message: NotificationBatch): void {
    this.#waiting.push({ batch: message.batch, messages: bufferOf(message), at: 0 });
    if (this.#waiting.length === 1) setImmediate(() => this.#write());
  }

  #write(): void {
    const first = this.#waiting[0]!;
    first.at = writeNotifications(this.#fd, first.messages, RETRY_MS, first.at, LATE_AT_ONCE);
    if (first.at >= first.messages.length) {
      this.#waiting.shift();
      this.#tell({ batch: first.batch, late: true });
    }
    if (this.#waiting.length > 0) setImmediate(() => this.#write());
  }
}

function bufferOf({ bytes }: NotificationBatch): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/**
 * Writes at most `most` messages from the offset `from` on, and returns the offset after them; that of the end if the
 * connection has ended. A transient errno is retried for `patienceMs` milliseconds per message. Throws any errno that leaves a
 * cache stale.
 */
export function writeNotifications(
  fd: number,
  messages: Buffer,
  patienceMs: number,
  from = 0,
  most = Number.POSITIVE_INFINITY,
): number {
  let at = from;
  for (let left = most; at < messages.length && left > 0; left--) {
    const size = messages.readUInt32LE(at);
    try {
      writeDevice(fd, messages, at, size, patienceMs);
    } catch (thrown) {
      const code = errorCode(thrown);
      if (code === 'ENODEV' || code === 'ECONNABORTED' || code === 'EPERM') return messages.length;
      // ENOENT: the kernel holds no such node or dentry. ENOTEMPTY, EBUSY: a mount point, which the kernel keeps.
      // ENOTDIR: the parent is no directory any more.
      if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EBUSY' && code !== 'ENOTDIR') throw thrown;
    }
    at += size;
  }
  return at;
}

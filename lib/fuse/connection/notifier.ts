import type { MessagePort } from 'node:worker_threads';
import { errorCode } from '../../linux/errno.ts';
import { writeDevice } from './write-device.ts';

/**
 * Complete notification messages, each with its own length, back to back. Batches are written in the order of their
 * numbers.
 */
export interface NotificationBatch {
  batch: number;
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * How long a notification is retried, in ms. After that the thread exits, and the mount is removed, because the
 * kernel's caches are stale.
 */
const RETRY_MS = 10_000;

/** workerData of the notifier thread. */
export interface FuseNotifierData {
  role: 'fuse-notifier';
  fd: number;
  /** Receives `NotificationBatch` from the request worker. */
  batches: MessagePort;
  /** Sends each batch number when the batch is written or the connection has ended. */
  written: MessagePort;
}

/**
 * Runs the notifier thread, which writes invalidations to the device. It may block in write(2) on a directory's lock
 * while the request worker serves the lock's holder; only calls of the main thread wait for it.
 */
export function serveNotifications({ fd, batches, written }: FuseNotifierData): void {
  // ENOENT is frequent, and capturing stack traces for it would cost more than the notifications.
  Error.stackTraceLimit = 0;
  batches.on('message', ({ batch, bytes }: NotificationBatch) => {
    writeNotifications(fd, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), RETRY_MS);
    written.postMessage(batch);
  });
}

/** A transient errno is retried for `patienceMs` milliseconds per message. Throws any errno that leaves a cache stale. */
export function writeNotifications(fd: number, messages: Buffer, patienceMs: number): void {
  for (let at = 0; at < messages.length; ) {
    const size = messages.readUInt32LE(at);
    try {
      writeDevice(fd, messages, at, size, patienceMs);
    } catch (thrown) {
      const code = errorCode(thrown);
      if (code === 'ENODEV' || code === 'ECONNABORTED' || code === 'EPERM') return;
      // ENOENT: the kernel holds no such node or dentry. ENOTEMPTY, EBUSY: a mount point, which the kernel keeps.
      // ENOTDIR: the parent is no directory any more.
      if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EBUSY' && code !== 'ENOTDIR') throw thrown;
    }
    at += size;
  }
}

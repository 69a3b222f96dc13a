import type { MessagePort } from 'node:worker_threads';
import { writeDevice } from './write-device.ts';

/** Whole notification messages one after the other, each with its own length; written in the order of `batch`. */
export interface NotificationBatch {
  batch: number;
  bytes: Uint8Array<ArrayBuffer>;
}

/** How long a notification is retried. After that the thread ends, and the mount with it: the kernel's caches are stale. */
const PATIENCE_MS = 10_000;

/** What the main thread starts the notifier thread with. */
export interface FuseNotifierData {
  role: 'fuse-notifier';
  fd: number;
  /** Batches come in here from the request worker. */
  batches: MessagePort;
  /** The number of each batch goes out here when all of it was written or the connection has ended. */
  written: MessagePort;
}

/**
 * The thread that tells the kernel what changed. It has an event loop and nothing else waits for it but the callers of
 * the main thread, so it may wait inside write(2) for a directory's lock while the request worker serves its holder.
 */
export function serveNotifications({ fd, batches, written }: FuseNotifierData): void {
  // ENOENT is a common answer, and the stacks of those errors would cost more than the notifications.
  Error.stackTraceLimit = 0;
  batches.on('message', ({ batch, bytes }: NotificationBatch) => {
    writeNotifications(fd, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), PATIENCE_MS);
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
      const { code } = thrown as NodeJS.ErrnoException;
      if (code === 'ENODEV' || code === 'ECONNABORTED' || code === 'EPERM') return;
      // ENOENT: the kernel does not hold it. ENOTEMPTY, EBUSY: a mount point, which is kept.
      if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EBUSY' && code !== 'ENOTDIR') throw thrown;
    }
    at += size;
  }
}

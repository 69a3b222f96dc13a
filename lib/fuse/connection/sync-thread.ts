import type { MessagePort } from 'node:worker_threads';
import { encodeRetrieveNothing } from '../protocol/notifications.ts';
import { CONTROL_NODEID } from '../session/control-node.ts';
import { writeDevice } from './write-device.ts';

/** How long a reply or a wake-up is retried, in ms: a lost reply would hold its program for ever. */
const RETRY_MS = 10_000;

/** A reply, and the descriptor that its request was read from. */
export interface PreparedReply {
  fd: number;
  message: Uint8Array;
}

/** A sync for a sync thread. `replies`: sent if it makes everything durable. */
export interface StartedSync {
  sync: unknown;
  replies: readonly PreparedReply[];
}

/** The end of a sync. */
export interface EndedSync {
  /** What `ControlledFileSystem.synced` receives. */
  id: number;
  errnos: readonly number[];
  /** The replies have been sent, or will be. */
  replied: boolean;
}

/** workerData of a sync thread. */
export interface FuseSyncData {
  role: 'fuse-sync';
  /** The mounted /dev/fuse. */
  fd: number;
  /** Receives `StartedSync` from the request worker and sends `EndedSync`. */
  syncs: MessagePort;
}

/**
 * Runs a sync thread, which may wait for the disk. It answers the requests itself, so that their program does not wait
 * until the request worker has been woken. `run` returns the id of the sync and an errno for each file, or 0.
 */
export function serveSyncs({ fd, syncs }: FuseSyncData, run: (sync: unknown) => Omit<EndedSync, 'replied'>): void {
  const wakeUp = encodeRetrieveNothing(CONTROL_NODEID);
  syncs.on('message', ({ sync, replies }: StartedSync) => {
    const { id, errnos } = run(sync);
    const replied = errnos.every((errno) => errno === 0);
    // The worker knows of the end before it reads a later request of a program that was answered here: the wake-up is
    // in the same queue.
    syncs.postMessage({ id, errnos, replied } satisfies EndedSync);
    write(fd, wakeUp);
    if (replied) for (const reply of replies) write(reply.fd, reply.message);
  });
}

/** A failure means that the request was aborted or that the connection has ended, which the worker's read(2) reports. */
function write(fd: number, message: Uint8Array): void {
  try {
    writeDevice(fd, message, 0, message.length, RETRY_MS);
  } catch {
    // A lost wake-up: the next request, or the watchdog's ping, wakes the worker.
  }
}

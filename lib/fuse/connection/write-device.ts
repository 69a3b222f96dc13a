import { writeSync } from 'node:fs';
import { errorCode } from '../../linux/errno.ts';

/** Errors of a host that is short of memory for a moment: the same write can succeed later. */
const TRANSIENT: ReadonlySet<string | undefined> = new Set(['EAGAIN', 'EINTR', 'ENOBUFS', 'ENOMEM']);
const FIRST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 500;

const nobody = new Int32Array(new SharedArrayBuffer(4));

/** Whether an error of read(2) or write(2) on the device is worth a retry. */
export function isTransient(thrown: unknown): boolean {
  return TRANSIENT.has(errorCode(thrown));
}

/**
 * Writes one message to the device. A transient errno is retried, with waits that double, for `patienceMs` milliseconds
 * in all, during which the thread blocks. Throws any other errno at once.
 */
export function writeDevice(fd: number, buffer: Uint8Array, offset: number, length: number, patienceMs: number): void {
  for (let waited = 0, wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      writeSync(fd, buffer, offset, length, null);
      return;
    } catch (thrown) {
      if (!isTransient(thrown) || waited >= patienceMs) throw thrown;
      Atomics.wait(nobody, 0, 0, wait);
      waited += wait;
    }
  }
}

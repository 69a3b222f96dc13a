import { ServiceError } from '../../lib/errors.ts';

/** Milliseconds that every message has for its arrival, and the bytes of each further millisecond: 16 KiB a second. */
const GRACE_MS = 60_000;
const BYTES_PER_MS = 16.384;

/** Milliseconds after its beginning at which a message of which so many bytes have arrived must be complete. */
export function allowedMs(bytes: number): number {
  return GRACE_MS + bytes / BYTES_PER_MS;
}

/** Calls `late` if the message is not complete in time. The returned function must be called when it is. */
export function completeInTime(received: () => number, late: () => void): () => void {
  const began = performance.now();
  const check = () => {
    const left = allowedMs(received()) - (performance.now() - began);
    if (left <= 0) late();
    else timer = setTimeout(check, left);
  };
  let timer = setTimeout(check, allowedMs(0));
  return () => clearTimeout(timer);
}

export function tooSlow(): ServiceError {
  return new ServiceError(
    'DEADLINE_EXCEEDED',
    'the request has not arrived in time: it has a minute, and a second more for each 16 KiB',
  );
}

import { giveBack, largeBuffer, RECYCLED_BYTES, recycledBuffer } from '../../recycled-buffers.ts';
import { REQUEST_SIZE } from '../session/session.ts';

/** Requests up to this size, in bytes, are held in buffers of their own, of which so many are kept for later. */
export const SMALL = 1024;
const MOST_SPARE = 64;
/** Those above it get a buffer that is used again, and those above this size one of the largest size. */
const LARGE = 2 ** 19;

/** A request that was read, with the descriptor that its reply is written to. */
export interface ReadRequest {
  readonly fd: number;
  /** Has the request in its first `length` bytes. */
  readonly request: Buffer;
  readonly length: number;
}

/** The same, of which the next request may use what it has. */
export interface RequestRecord {
  fd: number;
  readonly request: Buffer;
  length: number;
  isRefused: boolean;
}

/**
 * Copies of requests. Most are small and served within microseconds, as long as an allocation takes: their records and buffers
 * are used again.
 */
export class RequestRecords {
  readonly #spare: RequestRecord[] = [];

  /** A copy of the first `length` bytes of `read`, until `giveBack`. */
  copy(fd: number, read: Buffer, length: number): RequestRecord {
    const record = (length <= SMALL && this.#spare.pop()) || recordOf(bufferFor(length));
    read.copy(record.request, 0, 0, length);
    record.fd = fd;
    record.length = length;
    record.isRefused = false;
    return record;
  }

  giveBack(record: RequestRecord): void {
    if (record.request.length !== SMALL) giveBack(record.request);
    else if (this.#spare.length < MOST_SPARE) this.#spare.push(record);
  }
}

/** A record of a request that will be read into `request`. */
export function recordOf(request: Buffer): RequestRecord {
  return { fd: 0, request, length: 0, isRefused: false };
}

function bufferFor(length: number): Buffer {
  if (length <= SMALL) return Buffer.allocUnsafeSlow(SMALL);
  if (length <= RECYCLED_BYTES) return recycledBuffer();
  return length <= LARGE ? Buffer.allocUnsafeSlow(length) : largeBuffer(REQUEST_SIZE);
}

import { totalmem } from 'node:os';
import { isRunning } from '../../linux/is-running.ts';
import { giveBack, largeBuffer, RECYCLED_BYTES, recycledBuffer } from '../../recycled-buffers.ts';
import { Opcode } from '../protocol/opcodes.ts';
import { interruptedUnique, readOpcode, readPid, readUnique } from '../protocol/requests.ts';
import { REQUEST_SIZE, type Session } from '../session/session.ts';
import { FairQueue } from './fair-queue.ts';
import type { RequestReader } from './request-reader.ts';

/** Requests above this size, in bytes, get a buffer that is used again, and those above the next one a buffer of the largest size. */
const SMALL = 8192;
const LARGE = 2 ** 19;
/** Upper limit of the bytes held; on smaller machines the 32nd part of the memory. */
const MOST_BYTES = 2 ** 29;
/** Requests that are served before the next check for a second one, if checks find none. */
const MOST_UNCHECKED = 3;
/** What a request counts at least, in bytes. */
const LEAST = 1024;
/** Milliseconds for which requests are read before one is served. */
const MOST_READ_MS = 5;

/** A request that was read, with the descriptor that its reply is written to. */
export interface ReadRequest {
  readonly fd: number;
  /** Has the request in its first `length` bytes. */
  readonly request: Buffer;
  readonly length: number;
}

interface HeldRequest extends ReadRequest {
  readonly unique: number;
  isRefused: boolean;
}

/**
 * Requests that were read and wait for their turn. The kernel has one queue for all programs, in order of arrival. So if
 * several requests wait there, all are read, and each workspace is a flow of a fair queue.
 *
 * The bytes of held requests have a limit. At the limit requests stay in the kernel's queue.
 *
 * The kernel lets a killed process go while its request is in that queue. One that is held is refused in the same way when the
 * kernel tells of the kill, so that the process need not wait for its turn. Other signals do not: few programs expect EINTR of
 * a file system.
 */
export class HeldRequests {
  readonly #reader: RequestReader;
  readonly #session: Session;
  readonly #second: Buffer;
  readonly #maxBytes: number;
  readonly #now: () => number;
  readonly #isAlive: (pid: number) => boolean;
  readonly #refuse: (request: ReadRequest) => void;
  readonly #queue = new FairQueue<HeldRequest>();
  /** Those that a program waits for. */
  readonly #byUnique = new Map<number, HeldRequest>();
  #bytes = 0;
  /** Requests since the last check whether a second one waits, and how many are not followed by a check. */
  #unchecked = 0;
  #toSkip = 0;
  /** When the service of the last request began, if it was held; otherwise 0. */
  #began = 0;

  /**
   * `refuse`: replies to a request that nobody waits for any more; `second`: a buffer beside that of the session; `maxBytes`:
   * the limit; `now`: a clock in ms; `isAlive`: of a process that is not about to end.
   */
  constructor(
    reader: RequestReader,
    session: Session,
    refuse: (request: ReadRequest) => void,
    second: Buffer = Buffer.allocUnsafeSlow(REQUEST_SIZE),
    maxBytes: number = Math.min(MOST_BYTES, totalmem() / 32),
    now: () => number = () => performance.now(),
    isAlive: (pid: number) => boolean = isRunning,
  ) {
    this.#reader = reader;
    this.#session = session;
    this.#second = second;
    this.#maxBytes = maxBytes;
    this.#now = now;
    this.#refuse = refuse;
    this.#isAlive = isAlive;
  }

  /**
   * Returns the request whose turn it is, which is valid until `done`. Waits if there is none. Returns undefined if only
   * requests without a reply were read. Throws the errors of read(2).
   */
  receive(): ReadRequest | undefined {
    const reader = this.#reader;
    const { request } = this.#session;
    this.#began = 0;
    if (this.#queue.size === 0) {
      const length = reader.next(request);
      const first = { fd: reader.fd, request, length };
      // While no other request waits, none is copied and no time is measured.
      if (reader.hasWaited || this.#unchecked < this.#toSkip) {
        this.#unchecked++;
        return first;
      }
      const more = reader.take(this.#second);
      this.#unchecked = 0;
      this.#toSkip = more === undefined ? Math.min(this.#toSkip + 1, MOST_UNCHECKED) : 0;
      if (more === undefined) return first;
      this.#hold(first);
      this.#hold({ fd: reader.fd, request: this.#second, length: more });
    }
    for (const until = this.#now() + MOST_READ_MS; this.#bytes < this.#maxBytes && this.#now() <= until; ) {
      const length = reader.take(request);
      if (length === undefined) break;
      this.#hold({ fd: reader.fd, request, length });
    }
    for (let next = this.#queue.next(); next !== undefined; next = this.#queue.next()) {
      if (next.isRefused) continue;
      this.#byUnique.delete(next.unique);
      this.#bytes -= costOf(next.request);
      this.#began = this.#now();
      return next;
    }
    return undefined;
  }

  /** The last request of `receive` was run; what follows is work for others, too. */
  ran(): void {
    if (this.#began !== 0) this.#queue.spent(this.#now() - this.#began);
  }

  /** The last request of `receive` is not needed any more. */
  done({ request }: ReadRequest): void {
    if (this.#began !== 0) giveBack(request);
  }

  #hold({ fd, request: read, length }: ReadRequest): void {
    const session = this.#session;
    // Nobody waits for it, and the kernel sends it only when no request needs the node.
    if (session.isOneWay(length, read)) {
      const interrupted = interruptedUnique(read, length);
      if (interrupted === undefined) session.handle(length, read);
      else this.#interrupt(interrupted);
      return;
    }
    const request = bufferFor(length);
    read.copy(request, 0, 0, length);
    this.#bytes += costOf(request);
    const held = { fd, request, length, unique: readUnique(request), isRefused: false };
    if (readOpcode(request) !== Opcode.NOTIFY_REPLY) this.#byUnique.set(held.unique, held);
    this.#queue.add(session.flowOf(request), held);
  }

  #interrupt(unique: number): void {
    const held = this.#byUnique.get(unique);
    if (held === undefined) return;
    const pid = readPid(held.request);
    // 0: of another pid namespace.
    if (pid === 0 || this.#isAlive(pid)) return;
    this.#byUnique.delete(unique);
    held.isRefused = true;
    this.#bytes -= costOf(held.request);
    this.#refuse(held);
    giveBack(held.request);
  }
}

/** Its buffer may be larger than the request. */
function costOf(buffer: Buffer): number {
  return Math.max(LEAST, buffer.length);
}

function bufferFor(length: number): Buffer {
  if (length <= SMALL) return Buffer.allocUnsafe(length);
  if (length <= RECYCLED_BYTES) return recycledBuffer();
  return length <= LARGE ? Buffer.allocUnsafeSlow(length) : largeBuffer(REQUEST_SIZE);
}

import { totalmem } from 'node:os';
import { isRunning } from '../../linux/is-running.ts';
import { giveBack } from '../../recycled-buffers.ts';
import { Opcode } from '../protocol/opcodes.ts';
import { interruptedUnique, readOpcode, readPid, readUnique } from '../protocol/requests.ts';
import { REQUEST_SIZE, type Session } from '../session/session.ts';
import { FairQueue } from './fair-queue.ts';
import type { RequestReader } from './request-reader.ts';
import { type ReadRequest, type RequestRecord, RequestRecords, recordOf, SMALL } from './request-records.ts';

/** Upper limit of the bytes held; on smaller machines the 32nd part of the memory. */
const MOST_BYTES = 2 ** 29;
/** Requests that are served before the next check for a second one, if checks find none. */
const MOST_UNCHECKED = 3;
/** What a request counts at least, in bytes. */
const LEAST = 1024;
/** Milliseconds for which held requests are served before more are read, after the one in progress. */
const READ_EVERY_MS = 0.05;
/** Milliseconds for which requests are read before one is served, and small requests between two looks at the clock. */
const MOST_READ_MS = 5;
const UNTIMED = 16;

/**
 * Requests that were read and wait for their turn. The kernel has one queue for all programs, in order of arrival. So if
 * several requests wait there, all are read, and each workspace is a flow of a fair queue.
 *
 * The bytes of held requests have a limit. At the limit requests stay in the kernel's queue.
 *
 * The kernel lets a killed process go while its request is in that queue. One that is held is refused in the same way when the
 * kernel tells of the kill, so that the process need not wait for its turn. Other signals do not: few programs expect EINTR of
 * a file system.
 *
 * Most requests take a few microseconds, and a look at the clock or a read(2) that finds nothing a part of one. So while only one
 * program sends requests, none is held, and no time measured; among held ones not each is preceded by a read.
 */
export class HeldRequests {
  readonly #reader: RequestReader;
  readonly #session: Session;
  readonly #second: Buffer;
  readonly #maxBytes: number;
  readonly #clock: () => number;
  readonly #isAlive: (pid: number) => boolean;
  readonly #refuse: (request: ReadRequest) => void;
  readonly #queue = new FairQueue<RequestRecord>();
  /** Those that a program waits for, by `unique`: from the first interrupt until none is held. */
  #byUnique: Map<number, RequestRecord> | undefined;
  /** A request that is not held. */
  readonly #alone: RequestRecord;
  readonly #records = new RequestRecords();
  #bytes = 0;
  /** Requests since the last check whether a second one waits, and how many are not followed by a check. */
  #unchecked = 0;
  #toSkip = 0;
  /** The time of the last look at the clock, and that from which on more requests are read. */
  #now = 0;
  #readAgain = 0;
  /** The request of the last `receive`, if it was held, and whether its time is not counted yet. */
  #served: RequestRecord | undefined;
  #isCounting = false;

  /**
   * `refuse`: replies to a request that nobody waits for any more; `second`: a buffer beside that of the session; `maxBytes`:
   * the limit; `clock`: in ms; `isAlive`: of a process that is not about to end.
   */
  constructor(
    reader: RequestReader,
    session: Session,
    refuse: (request: ReadRequest) => void,
    second: Buffer = Buffer.allocUnsafeSlow(REQUEST_SIZE),
    maxBytes: number = Math.min(MOST_BYTES, totalmem() / 32),
    clock: () => number = () => performance.now(),
    isAlive: (pid: number) => boolean = isRunning,
  ) {
    this.#reader = reader;
    this.#session = session;
    this.#second = second;
    this.#maxBytes = maxBytes;
    this.#clock = clock;
    this.#refuse = refuse;
    this.#isAlive = isAlive;
    this.#alone = recordOf(session.request);
  }

  /**
   * Returns the request whose turn it is, which is valid until `done`. Waits if there is none. Returns undefined if only
   * requests without a reply were read. Throws the errors of read(2).
   */
  receive(): ReadRequest | undefined {
    if (this.#isCounting) this.ran();
    else if (this.#queue.size > 0) this.#now = this.#clock();
    if (this.#queue.size === 0) {
      this.#byUnique = undefined;
      if (!this.#readTwo()) return this.#alone;
    }
    if (this.#now >= this.#readAgain) this.#readMore();
    return this.#next();
  }

  /** Call it before work that is not that of the last request of `receive`. */
  ran(): void {
    if (!this.#isCounting) return;
    this.#isCounting = false;
    const began = this.#now;
    this.#now = this.#clock();
    this.#queue.spent(this.#now - began);
  }

  /** The last request of `receive` is not needed any more. */
  done(): void {
    if (this.#served === undefined) return;
    this.#records.giveBack(this.#served);
    this.#served = undefined;
  }

  /** Reads a request, and holds it if a second one waits. Returns false if it is alone. */
  #readTwo(): boolean {
    const reader = this.#reader;
    const alone = this.#alone;
    const { request } = alone;
    const length = reader.next(request);
    alone.fd = reader.fd;
    alone.length = length;
    if (this.#session.isOneWay(length, request)) return false;
    if (reader.hasWaited || this.#unchecked < this.#toSkip) {
      this.#unchecked++;
      return false;
    }
    this.#unchecked = 0;
    const more = reader.take(this.#second);
    this.#toSkip = more === undefined ? Math.min(this.#toSkip + 1, MOST_UNCHECKED) : 0;
    if (more === undefined || this.#handled(this.#second, more)) return false;
    this.#hold(alone.fd, request, length);
    this.#hold(reader.fd, this.#second, more);
    this.#now = this.#readAgain = this.#clock();
    return true;
  }

  /** Reads all that wait. */
  #readMore(): void {
    const { request } = this.#session;
    const until = this.#now + MOST_READ_MS;
    for (let untimed = 0; this.#bytes < this.#maxBytes && this.#now <= until; ) {
      const length = this.#reader.take(request);
      if (length === undefined) break;
      if (!this.#handled(request, length)) this.#hold(this.#reader.fd, request, length);
      if (length <= SMALL && ++untimed < UNTIMED) continue;
      untimed = 0;
      this.#now = this.#clock();
    }
    this.#now = this.#clock();
    this.#readAgain = this.#now + READ_EVERY_MS;
  }

  #next(): ReadRequest | undefined {
    for (let next = this.#queue.next(); next !== undefined; next = this.#queue.next()) {
      if (next.isRefused) {
        this.#records.giveBack(next);
        continue;
      }
      this.#byUnique?.delete(readUnique(next.request));
      this.#bytes -= costOf(next);
      this.#isCounting = true;
      this.#served = next;
      return next;
    }
    return undefined;
  }

  /** Handles a request that nobody waits for: the kernel sends it only when no request needs the node. */
  #handled(request: Buffer, length: number): boolean {
    if (!this.#session.isOneWay(length, request)) return false;
    const interrupted = interruptedUnique(request, length);
    if (interrupted === undefined) this.#session.handle(length, request);
    else if (this.#queue.size > 0) this.#interrupt(interrupted);
    return true;
  }

  #hold(fd: number, read: Buffer, length: number): void {
    const held = this.#records.copy(fd, read, length);
    this.#bytes += costOf(held);
    if (this.#byUnique !== undefined) addAwaited(this.#byUnique, held);
    this.#queue.add(this.#session.flowOf(held.request), held);
  }

  #interrupt(unique: number): void {
    if (this.#byUnique === undefined) {
      this.#byUnique = new Map();
      for (const held of this.#queue.items()) addAwaited(this.#byUnique, held);
    }
    const held = this.#byUnique.get(unique);
    if (held === undefined) return;
    const pid = readPid(held.request);
    // 0: of another pid namespace.
    if (pid === 0 || this.#isAlive(pid)) return;
    this.#byUnique.delete(unique);
    held.isRefused = true;
    this.#bytes -= costOf(held);
    this.#refuse(held);
    giveBack(held.request);
  }
}

function addAwaited(to: Map<number, RequestRecord>, held: RequestRecord): void {
  if (readOpcode(held.request) !== Opcode.NOTIFY_REPLY) to.set(readUnique(held.request), held);
}

/** Its buffer may be larger than the request. */
function costOf({ request }: RequestRecord): number {
  return Math.max(LEAST, request.length);
}

import * as fs from 'node:fs/promises';
import { ServiceError } from '../errors.ts';
import { type Log, silentLog } from '../log.ts';
import { BATCH } from './batch.ts';
import type { LogBudget } from './budget.ts';
import { Collector, type Piece } from './collector.ts';
import type { LogStream } from './format.ts';
import { LiveTail } from './live-tail.ts';
import { RecentReaders } from './recent-readers.ts';
import { recoverSegments } from './recover.ts';
import type { LogFileSystem } from './segment.ts';
import { Segments } from './segments.ts';
import { StoredOutput } from './stored-output.ts';
import { Waiters, withResolver } from './waiters.ts';
import { WaitingOutput } from './waiting-output.ts';

export type { LogStream } from './format.ts';

/** Cost of the output from which on a writer has to wait for the disk: with one more piece the batch is full. */
const FULL = BATCH - 80 * 1024;
/** Cost of output that is written at once; less has to wait for more, but not longer than DELAY_MS. */
const ENOUGH = BATCH / 2;
const DELAY_MS = 10;
/** Bytes in a millisecond: output that recent readers still need is not dropped faster. */
const PACE = 16 * 1024;
/** Likewise: it does not leave the memory faster. Both together hold a process at 11 MB/s or more. */
const NEAR_PACE = 2 * PACE;
/** Milliseconds after a read in which its reader may hold output in memory. */
const MOVING_MS = 100;
/** Maximum bytes of output in one answer. */
const MAX_READ = 1024 * 1024;
/** Milliseconds without a write after which memory and descriptor are released. */
const IDLE_MS = 1000;

/** Offsets count the bytes of all streams together, from 0. */
export interface LogPosition {
  /** Offset of the first byte that is still kept. */
  first: number;
  /** Bytes written in all: the offset of the next byte. */
  next: number;
}

interface OutputLogOptions {
  /**
   * Bytes on the disk, including 13 for each 4,096 of output, and 3 for each change between streams. At least 16,384.
   * Above it the oldest output is dropped, an eighth at a time.
   */
  maxBytes: number;
  /** Shared by the logs of one sandbox. */
  budget: LogBudget;
  log?: Log;
  fileSystem?: LogFileSystem;
  /** Milliseconds in which output is gathered for one write; tests use other values than the default. */
  delayMs?: number;
}

/**
 * The output of one process, in files of the host, limited in size. It outlives the server, but not a power failure.
 * What the disk cannot take is missing afterwards: readers get a gap, never wrong bytes. A busy log uses less than 2 MiB
 * of memory and one descriptor; an idle one a few hundred bytes. The owner calls `close` or `remove`.
 */
export class OutputLog {
  readonly #budget: LogBudget;
  readonly #segments: Segments;
  readonly #stored: StoredOutput;
  readonly #waiters = new Waiters();
  readonly #readers = new RecentReaders();
  readonly #delayMs: number;
  #next: number;
  #ended = false;
  #removed = false;
  /** What is not on the disk yet, and the newest output that is. */
  readonly #tail = new LiveTail();
  readonly #waiting: WaitingOutput;
  /** Offset from which on output stays in memory after the next write. */
  #keptFrom = 0;
  #pump: Promise<void> | undefined;
  /** When the last write ended. */
  #wroteAt = Number.NEGATIVE_INFINITY;
  /** Resolves when what waits has been handed over to the disk. */
  #handedOver: { promise: Promise<void>; resolve: () => void } | undefined;
  /** Called when there is enough for a write. */
  #gathered: (() => void) | undefined;
  #idle: NodeJS.Timeout | undefined;

  private constructor(options: OutputLogOptions, segments: Segments, stored: StoredOutput, next: number) {
    this.#budget = options.budget;
    this.#delayMs = options.delayMs ?? DELAY_MS;
    this.#segments = segments;
    this.#stored = stored;
    this.#next = next;
    this.#waiting = new WaitingOutput(this.#tail, next);
  }

  /** Creates the directory, mode 0700. Rejects with the error of the host, also if it exists. */
  static async create(directory: string, options: OutputLogOptions): Promise<OutputLog> {
    const { fileSystem = fs, log = silentLog } = options;
    await fileSystem.mkdir(directory, { mode: 0o700 });
    const segments = new Segments({ ...options, directory, fileSystem, log });
    return new OutputLog(options, segments, new StoredOutput(segments, fileSystem), 0);
  }

  /**
   * Opens the log of an earlier server, to read; it has ended. The last record is left out if it is torn. undefined: no
   * such directory. Rejects with other errors of the host.
   */
  static async recover(directory: string, options: OutputLogOptions): Promise<OutputLog | undefined> {
    const { fileSystem = fs, log = silentLog } = options;
    const list = await recoverSegments(fileSystem, directory);
    if (list === undefined) return undefined;
    const segments = new Segments({ ...options, directory, fileSystem, log }, list);
    const stored = new StoredOutput(segments, fileSystem);
    const recovered = new OutputLog(options, segments, stored, list.at(-1)?.end ?? 0);
    recovered.#finish();
    return recovered;
  }

  get position(): LogPosition {
    const inMemory = this.#tail.start ?? this.#next;
    return { first: Math.min(this.#segments.start ?? this.#next, inMemory), next: this.#next };
  }

  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Takes `data` over, which must not change afterwards; nothing after the end. A promise: wait for it before more is
   * appended, as the disk is slower than the output. It never rejects. A piece above 64 KiB takes as much memory.
   */
  append(stream: LogStream, data: Buffer): Promise<void> | undefined {
    if (this.#ended || data.length === 0) return undefined;
    this.#tail.append(stream, this.#next, data);
    this.#next += data.length;
    this.#pump ??= this.#write();
    this.#waiters.wake();
    if (this.#waiting.cost < ENOUGH) return undefined;
    this.#gathered?.();
    if (this.#waiting.cost < FULL) return undefined;
    this.#handedOver ??= withResolver();
    return this.#handedOver.promise;
  }

  /** No more output. Resolves when all of it is written or lost. Idempotent. */
  async end(): Promise<void> {
    this.#finish();
    await this.#pump;
  }

  /**
   * At most `maxBytes`, and at most 1 MiB, of output from `offset` on, in pieces whose neighbours have different streams. `gap`: bytes missing
   * between `offset` and the first piece, or up to `next` if there is none. `next`: where to go on; more may already be
   * there, as an answer has at most 1,024 pieces and ends at a gap. OUT_OF_RANGE: `offset` is after the end of the log.
   */
  async read(offset: number, maxBytes: number): Promise<{ gap: number; pieces: Piece[]; next: number }> {
    const wanted = this.#next;
    if (!Number.isSafeInteger(offset) || offset < 0 || offset > wanted) {
      throw new ServiceError('OUT_OF_RANGE', `offset must be 0 to ${wanted}, the number of bytes of output so far`);
    }
    const collector = new Collector(offset, Math.min(Math.max(maxBytes, 1), MAX_READ, wanted - offset));
    while (!collector.full && collector.next < wanted) {
      if (await this.#collect(collector)) continue;
      if (!collector.empty) break;
      collector.skip(Math.min(this.#afterGap(collector.next), wanted));
    }
    this.#readers.read(offset, collector.next, this.#next);
    return collector.result();
  }

  /**
   * Output at `offset` of one stream, at most `maxBytes`, if that is still in memory: without a copy, so the caller gives
   * its data back. undefined: `read` has it, or there is none yet.
   */
  near(offset: number, maxBytes: number): Piece | undefined {
    if (this.#removed) return undefined;
    const piece = this.#tail.at(offset, maxBytes);
    if (piece !== undefined) this.#readers.read(offset, offset + piece.data.length, this.#next);
    return piece;
  }

  /**
   * Resolves when there is output after `offset`, at the end of the log, when the signal aborts, or after so many
   * milliseconds. Never rejects.
   */
  async more(offset: number, signal: AbortSignal, milliseconds = Number.POSITIVE_INFINITY): Promise<void> {
    if (this.#next <= offset && !this.#ended) await this.#waiters.wait(signal, milliseconds);
  }

  /** Ends the log and releases its descriptor and memory. Reading stays possible, as long as the directory exists. */
  async close(): Promise<void> {
    await this.end();
    await this.#rest();
  }

  /** Removes the log with its directory. Readers find a gap. Rejects with the error of the host; may be repeated. */
  async remove(): Promise<void> {
    this.#removed = true;
    await this.close();
    await this.#budget.turn(() => this.#segments.remove());
  }

  #finish(): void {
    this.#ended = true;
    this.#segments.ended = true;
    this.#gathered?.();
    this.#waiters.wake();
  }

  /** Writes what is appended, a batch at a time, until nothing is left. */
  async #write(): Promise<void> {
    while (this.#waiting.start < this.#next) {
      // The first output after a rest is written at once, so that a killed server loses as little as possible.
      if (performance.now() - this.#wroteAt < this.#delayMs) await this.#gather();
      await this.#waitForReaders();
      const batch = this.#waiting.take(this.#next);
      this.#handedOver?.resolve();
      this.#handedOver = undefined;
      await this.#budget.turn(async () => {
        if (!this.#removed) await this.#segments.write(batch);
      });
      this.#wroteAt = performance.now();
      this.#waiting.written(batch);
      await this.#waitForNearReaders();
      this.#tail.drop(this.#keptFrom);
      this.#keptFrom = batch.end;
    }
    this.#pump = undefined;
    this.#restLater();
  }

  /** Waits until a write is worth while. */
  async #gather(): Promise<void> {
    if (this.#waiting.cost >= ENOUGH || this.#ended) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#delayMs).unref();
      this.#gathered = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#gathered = undefined;
  }

  /**
   * Lets readers take what the next batch displaces, so that one that keeps pace gets all output. A reader that is too slow,
   * or has left, hardly slows the process: it is waited for a moment with each of a few parts.
   */
  #waitForReaders(): Promise<void> | undefined {
    const { bytes, end } = this.#segments.displacedBy(this.#waiting.lengthTo(this.#next));
    return bytes === 0 || this.#removed ? undefined : this.#readers.dropped(end, bytes / PACE);
  }

  /**
   * Lets readers take the oldest output in memory, so that those that keep pace are not served from the disk. Those that
   * have lost it for a moment are waited for, too: they would be served from the disk for as long as there is output.
   */
  async #waitForNearReaders(): Promise<void> {
    const milliseconds = (this.#keptFrom - (this.#tail.start ?? this.#keptFrom)) / NEAR_PACE;
    if (milliseconds > 0 && !this.#removed) await this.#readers.passed(this.#keptFrom, milliseconds, MOVING_MS);
  }

  /** Adds output from memory or from the disk. Returns false at a gap. */
  async #collect(collector: Collector): Promise<boolean> {
    if (this.#removed) return false;
    const piece = this.#tail.at(collector.next, collector.room);
    if (piece !== undefined) return collector.add(piece);
    const segment = this.#segments.find(collector.next);
    if (segment === undefined) return false;
    this.#restLater();
    return this.#stored.collect(collector, segment);
  }

  /** The offset of the first byte after a gap that is kept. */
  #afterGap(offset: number): number {
    if (this.#removed) return this.#next;
    const inMemory = Math.max(offset, this.#tail.start ?? this.#next);
    return Math.min(inMemory, this.#segments.startAfter(offset) ?? inMemory);
  }

  #restLater(): void {
    this.#idle = this.#idle?.refresh() ?? setTimeout(() => this.#rest(), IDLE_MS).unref();
  }

  /** Releases what only a busy log needs. */
  async #rest(): Promise<void> {
    clearTimeout(this.#idle);
    this.#idle = undefined;
    this.#stored.rest();
    // A writer that is busy again rests after it.
    if (this.#pump !== undefined) return;
    this.#tail.drop(this.#next);
    this.#waiting.rest();
    await this.#budget.turn(() => this.#segments.rest());
  }
}

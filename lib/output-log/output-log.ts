import * as fs from 'node:fs/promises';
import { ServiceError } from '../errors.ts';
import { type Log, silentLog } from '../log.ts';
import { BATCH, Batch } from './batch.ts';
import type { LogBudget } from './budget.ts';
import { Collector, type Piece } from './collector.ts';
import type { LogStream } from './format.ts';
import { RecentReaders } from './recent-readers.ts';
import { recoverSegments } from './recover.ts';
import type { LogFileSystem } from './segment.ts';
import { Segments } from './segments.ts';
import { StoredOutput } from './stored-output.ts';
import { Waiters } from './waiters.ts';

export type { LogStream } from './format.ts';

/** Encoded bytes from which on a writer has to wait for the disk: with one more piece the batch is full. */
const FULL = BATCH - 80 * 1024;
/** Encoded bytes that are written at once; fewer have to wait for more, but not longer than DELAY_MS. */
const ENOUGH = BATCH / 2;
const DELAY_MS = 10;
/** Bytes in a millisecond: output that recent readers still need is not dropped faster. */
const PACE = 16 * 1024;
/** Milliseconds for which output stays in memory for recent readers that need it. */
const NEAR_MS = 32;
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
 * What the disk cannot take is missing afterwards: readers get a gap, never wrong bytes. A busy log uses less than 1 MiB
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
  /** Encoded position of the next byte. */
  #position = 0;
  #ended = false;
  #removed = false;
  /** Batches in order: written and kept for readers, being written, being filled. */
  #written: Batch | undefined;
  #writing: Batch | undefined;
  #filling: Batch | undefined;
  /** A buffer to use again. */
  #spare: Buffer | undefined;
  #pump: Promise<void> | undefined;
  /** Resolves when `#filling` has been handed over to the disk. */
  #handedOver: { promise: Promise<void>; resolve: () => void } | undefined;
  /** Called when `#filling` is enough for a write. */
  #gathered: (() => void) | undefined;
  #idle: NodeJS.Timeout | undefined;

  private constructor(options: OutputLogOptions, segments: Segments, stored: StoredOutput, next: number) {
    this.#budget = options.budget;
    this.#delayMs = options.delayMs ?? DELAY_MS;
    this.#segments = segments;
    this.#stored = stored;
    this.#next = next;
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
    const inMemory = (this.#written ?? this.#writing ?? this.#filling)?.start ?? this.#next;
    return { first: Math.min(this.#segments.start ?? this.#next, inMemory), next: this.#next };
  }

  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Appends a copy; nothing after the end. A promise: wait for it before more is appended, as the disk is slower than
   * the output. It never rejects. Pieces should have at most 64 KiB: a larger one takes as much memory.
   */
  append(stream: LogStream, data: Uint8Array): Promise<void> | undefined {
    if (this.#ended || data.length === 0) return undefined;
    this.#filling ??= this.#newBatch();
    this.#filling.append(stream, data);
    this.#next += data.length;
    this.#pump ??= this.#write();
    this.#waiters.wake();
    if (this.#filling.length < ENOUGH) return undefined;
    this.#gathered?.();
    if (this.#filling.length < FULL) return undefined;
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

  #newBatch(): Batch {
    const batch = new Batch(this.#position, this.#next, this.#spare);
    this.#spare = undefined;
    return batch;
  }

  /** Writes what is appended, a batch at a time, until nothing is left. */
  async #write(): Promise<void> {
    let busy = false;
    for (let batch = this.#filling; batch !== undefined; batch = this.#filling) {
      // The first output after a rest is written at once, so that a killed server loses as little as possible.
      if (busy) await this.#gather(batch);
      busy = true;
      await this.#waitForReaders(batch);
      this.#writing = batch;
      this.#filling = undefined;
      this.#position = batch.position + batch.length;
      this.#handedOver?.resolve();
      this.#handedOver = undefined;
      await this.#budget.turn(async () => {
        if (!this.#removed) await this.#segments.write(batch);
      });
      await this.#waitForNearReaders();
      const buffer = this.#written?.buffer;
      if (buffer !== undefined && buffer.length <= BATCH) this.#spare = buffer;
      this.#written = batch;
      this.#writing = undefined;
    }
    this.#pump = undefined;
    this.#restLater();
  }

  /** Waits until a write is worth while. */
  async #gather(batch: Batch): Promise<void> {
    if (batch.length >= ENOUGH || this.#ended || this.#delayMs === 0) return;
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
   * Lets readers take what the batch displaces, so that one that keeps pace gets all output. A reader that is too slow,
   * or has left, hardly slows the process: it is waited for a moment with each of a few parts.
   */
  #waitForReaders(batch: Batch): Promise<void> | undefined {
    const { bytes, end } = this.#segments.displacedBy(batch.length);
    return bytes === 0 || this.#removed ? undefined : this.#readers.dropped(end, bytes / PACE);
  }

  /** Lets readers take the oldest output in memory, so that those that keep pace are not served from the disk. */
  async #waitForNearReaders(): Promise<void> {
    if (this.#written && !this.#removed) await this.#readers.passed(this.#written.end, NEAR_MS, this.#written.start);
  }

  /** Adds output from memory or from the disk. Returns false at a gap. */
  async #collect(collector: Collector): Promise<boolean> {
    if (this.#removed) return false;
    for (const batch of [this.#written, this.#writing, this.#filling]) {
      if (batch !== undefined && batch.start <= collector.next && collector.next < batch.end)
        return collector.take(batch);
    }
    const segment = this.#segments.find(collector.next);
    if (segment === undefined) return false;
    this.#restLater();
    return this.#stored.collect(collector, segment);
  }

  /** The offset of the first byte after a gap that is kept. */
  #afterGap(offset: number): number {
    if (this.#removed) return this.#next;
    const later = [this.#written, this.#writing, this.#filling].filter(
      (each) => each !== undefined && each.end > offset,
    );
    const inMemory = Math.max(offset, later[0]?.start ?? this.#next);
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
    this.#written = undefined;
    this.#spare = undefined;
    await this.#budget.turn(() => this.#segments.rest());
  }
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

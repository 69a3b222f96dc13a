import type { FileHandle } from 'node:fs/promises';
import type { Log } from '../log.ts';
import type { Batch } from './batch.ts';
import type { BudgetedLog, LogBudget } from './budget.ts';
import { BLOCK, blockOffset, writeBlockHead } from './format.ts';
import { bytesOnDisk, type LogFileSystem, type Segment, segmentAt } from './segment.ts';

/** Parts that a log is divided into: at most one of them more than needed is dropped at once. */
const PARTS = 8;
/** Bounds the memory of a log whose segments are small, as many writes failed. */
const MAX_SEGMENTS = 64;

export interface SegmentsOptions {
  directory: string;
  maxBytes: number;
  budget: LogBudget;
  fileSystem: LogFileSystem;
  log: Log;
}

/**
 * The files of one log, as a ring: when there is no room, the oldest becomes the newest and is overwritten in place,
 * which costs a tenth of a new file, as the kernel has its pages already. A segment holds whole blocks, except at its
 * end, and at its start if the one before it was given up within a block. All changes happen within turns of the budget.
 */
export class Segments implements BudgetedLog {
  /** No more output will come. */
  ended = false;
  readonly #options: SegmentsOptions;
  readonly #maxBytes: number;
  readonly #segmentBytes: number;
  #list: Segment[];
  #kept = 0;
  /** The last segment, which grows. Closed while idle. */
  #active: Segment | undefined;
  #handle: FileHandle | undefined;
  /** The file of a dropped segment, for the next one. Only within a write. */
  #spare: Segment | undefined;
  #failureLogged = false;

  constructor(options: SegmentsOptions, list: Segment[] = []) {
    this.#options = options;
    this.#maxBytes = Math.max(Math.min(options.maxBytes, options.budget.maxBytes), 4 * BLOCK);
    this.#segmentBytes = Math.max(Math.floor(this.#maxBytes / PARTS / BLOCK), 2) * BLOCK;
    this.#list = list;
    for (const segment of list) this.#kept += bytesOnDisk(segment);
    options.budget.add(this);
  }

  get kept(): number {
    return this.#kept;
  }

  /** Offset of the first byte of the oldest segment; undefined: there is none. */
  get start(): number | undefined {
    return this.#list[0]?.start;
  }

  /** Whether it has not been dropped: before that, nothing of its file is overwritten. */
  has(segment: Segment): boolean {
    return this.#list.includes(segment);
  }

  /** The segment with the byte at `offset`. */
  find(offset: number): Segment | undefined {
    return this.#list.find(({ start, end }) => start <= offset && offset < end);
  }

  /** The start of the first segment with output after `offset`. */
  startAfter(offset: number): number | undefined {
    return this.#list.find(({ start, end }) => start > offset && end > start)?.start;
  }

  /** The oldest output that has to go for so many bytes to be written: its bytes, and the offset after it. */
  displacedBy(length: number): { bytes: number; end: number } {
    let bytes = 0;
    let end = 0;
    const growth = length - this.#reusable;
    for (const segment of this.#list) {
      if (growth <= 0 || this.#kept - bytes + growth + BLOCK <= this.#maxBytes) break;
      bytes += segment.size;
      end = segment.end;
    }
    return { bytes, end };
  }

  /** Writes a batch. What cannot be written is lost; the next batch is tried again. Never rejects. */
  async write(batch: Batch): Promise<void> {
    const { bytes } = batch;
    try {
      for (let done = 0; done < bytes.length; ) {
        if (!(await this.#makeRoom(bytes.length - done))) return;
        done += await this.#writePart(batch, bytes, done);
      }
    } catch (error) {
      this.failed(error, 'output of a process could not be stored');
    } finally {
      await this.#removeSpare();
    }
  }

  /** Logs the first failure only: each batch may fail. */
  failed(error: unknown, message: string): void {
    if (this.#failureLogged) return;
    this.#failureLogged = true;
    this.#options.log.warn(message, { directory: this.#options.directory, err: error });
  }

  async dropOldest(): Promise<void> {
    const [oldest] = this.#list;
    if (oldest === undefined) return;
    this.#forget(oldest);
    if (oldest === this.#active) await this.#giveUpActive();
    // Without it, the numbering would be lost with the last segment if the server died.
    if (this.#list.length === 0) await this.#mark(oldest.end);
    await this.#unlink(oldest);
  }

  /** A segment whose file is gone. Takes a turn of its own. */
  lose(segment: Segment): Promise<void> {
    return this.#options.budget.turn(async () => {
      if (!this.has(segment)) return;
      this.#forget(segment);
      if (segment === this.#active) await this.#giveUpActive();
    });
  }

  /** Releases the descriptor. The next write opens the file again. */
  async rest(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(() => undefined);
  }

  /** Removes all files and gives their bytes back. */
  async remove(): Promise<void> {
    this.#list = [];
    this.#kept = 0;
    this.#options.budget.delete(this);
    await this.#giveUpActive();
    await this.#options.fileSystem.rm(this.#options.directory, { recursive: true, force: true });
  }

  /** The numbers of a log without output on the disk: an empty segment. */
  async #mark(start: number): Promise<void> {
    const { directory, fileSystem } = this.#options;
    const segment = segmentAt(directory, start);
    const handle = await fileSystem.open(segment.path, 'w', 0o600).catch(() => undefined);
    if (handle === undefined) return;
    this.#list.push(segment);
    await handle.close().catch(() => undefined);
  }

  /** Bytes that the active segment can still overwrite. */
  get #reusable(): number {
    return this.#active === undefined ? 0 : bytesOnDisk(this.#active) - this.#active.size;
  }

  /** Makes room for as much of so many bytes as one segment takes. */
  async #makeRoom(rest: number): Promise<boolean> {
    if (this.#active?.size === this.#segmentBytes) await this.#giveUpActive();
    const active = this.#active;
    const room =
      active === undefined
        ? Math.min(rest + BLOCK, this.#segmentBytes)
        : Math.min(rest, this.#segmentBytes - active.size) - this.#reusable;
    while (this.#list.length > 0 && (this.#kept + room > this.#maxBytes || this.#list.length >= MAX_SEGMENTS)) {
      if (this.#list.length === 1 && this.#kept === 0) break;
      if (active === undefined && this.#spare === undefined && this.#list.length > 1) this.#spareOldest();
      else await this.dropOldest();
    }
    const spare = this.#spare?.size ?? 0;
    const enough = await this.#options.budget.makeRoom(Math.max(room, spare), Math.max(room - spare, 0));
    // A new segment may need more room than what was left of one that had to be dropped.
    return enough && active !== this.#active ? this.#makeRoom(rest) : enough;
  }

  /** Drops the oldest segment, which is not the active one, and keeps its file. */
  #spareOldest(): void {
    this.#spare = this.#list[0]!;
    this.#forget(this.#spare);
  }

  async #removeSpare(): Promise<void> {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare !== undefined) await this.#unlink(spare);
  }

  async #unlink({ path }: Segment): Promise<void> {
    await this.#options.fileSystem.unlink(path).catch(() => undefined);
  }

  /** Writes the part of a batch from `done` on that fits into one segment. Returns its length. */
  async #writePart(batch: Batch, bytes: Buffer, done: number): Promise<number> {
    const position = batch.position + done;
    // A full segment ends with a block, so that a part which is not the first of its batch begins with one.
    const room = this.#segmentBytes - (this.#active?.size ?? position % BLOCK);
    const length = Math.min(bytes.length - done, room);
    const isLast = done + length === bytes.length;
    const start = done === 0 ? batch.start : blockOffset(bytes, done)!;
    const end = isLast ? batch.end : blockOffset(bytes, done + length)!;
    const segment = this.#active ?? segmentAt(this.#options.directory, start);
    try {
      await this.#open(segment, position % BLOCK);
      // After the last record of a reused block must be no older one, also if the server is killed during the write:
      // the kernel changes the bytes of a page together.
      const pads = segment.reused > segment.size && isLast;
      const written = pads ? batch.padded.subarray(done) : bytes.subarray(done, done + length);
      await this.#store(segment, written, length, position);
    } catch (error) {
      await this.#undo(segment);
      throw error;
    }
    segment.end = end;
    return length;
  }

  /** Opens the file to write, which is that of the spare segment if the part begins with a block. */
  async #open(segment: Segment, within: number): Promise<void> {
    const { fileSystem } = this.#options;
    if (segment !== this.#active && this.#spare !== undefined && within === 0) {
      await fileSystem.rename(this.#spare.path, segment.path);
      segment.reused = this.#spare.size;
      this.#spare = undefined;
    }
    const flags = segment === this.#active || segment.reused > 0 ? 'r+' : 'w';
    this.#handle ??= await fileSystem.open(segment.path, flags, 0o600);
  }

  /** `bytes`: the part with its padding, which is written, but does not count. */
  async #store(segment: Segment, bytes: Buffer, length: number, position: number): Promise<void> {
    const within = segment.size === 0 ? position % BLOCK : 0;
    if (within > 0) await writeAll(this.#handle!, firstHead(segment.start, within), 0);
    await writeAll(this.#handle!, bytes, segment.size + within);
    const before = segment === this.#active ? bytesOnDisk(segment) : 0;
    segment.size += within + length;
    this.#kept += bytesOnDisk(segment) - before;
    if (segment === this.#active) return;
    this.#active = segment;
    // An empty segment of this name, which kept the numbers, has been replaced.
    this.#list = [...this.#list.filter(({ path }) => path !== segment.path), segment];
  }

  /**
   * After a failed write: takes back what it wrote, and older output that is not overwritten yet; if the disk refuses
   * this, too, the file keeps its bytes, and they count. The next part begins a new segment.
   */
  async #undo(segment: Segment): Promise<void> {
    if (segment === this.#active) {
      const cut = this.#handle?.truncate(segment.size).then(
        () => true,
        () => false,
      );
      if (await cut) {
        this.#kept -= this.#reusable;
        segment.reused = 0;
      }
    } else await this.#unlink(segment);
    await this.#giveUpActive();
  }

  async #giveUpActive(): Promise<void> {
    this.#active = undefined;
    await this.rest();
  }

  #forget(segment: Segment): void {
    this.#list = this.#list.filter((each) => each !== segment);
    this.#kept -= bytesOnDisk(segment);
  }
}

/** The head of a segment's first block whose first record is at `within`; the place between has never been written. */
function firstHead(offset: number, within: number): Buffer {
  const bytes = Buffer.alloc(within);
  writeBlockHead(bytes, 0, offset, within);
  return bytes;
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    if (bytesWritten === 0) throw new Error('the host wrote nothing');
    done += bytesWritten;
  }
}

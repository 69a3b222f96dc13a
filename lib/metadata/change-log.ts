import { dirname } from 'node:path';
import { SerialQueue } from '../serial-queue.ts';
import { type FileSystem, siblingOf, syncDirectory } from './durable-file.ts';
import { frameOf, frameOfList } from './frames.ts';
import { segmentPath } from './load.ts';
import type { Position } from './snapshot.ts';
import type { Change } from './state.ts';

const VERSION = 2;

type File = Awaited<ReturnType<FileSystem['open']>>;

/**
 * The log of changes, in segments: `metadata.json.log.7`. A segment begins with a frame that has its number and that of
 * the last change before it; what an older segment has after that change was never acknowledged. So after a failed
 * write, of which a part may be on the disk, the next one goes to a new segment.
 */
export class ChangeLog {
  readonly #path: string;
  readonly #fs: FileSystem;
  readonly #queue = new SerialQueue();
  #file: File | undefined;
  /** Bytes of the newest segment that are acknowledged. */
  #size = 0;
  #log: number;
  #sequence: number;
  /** The newest segment has no acknowledged change, and may be replaced. */
  #isEmpty: boolean;
  /** Bytes of the changes since the last snapshot. */
  bytes = 0;

  /** `last`: the newest segment on the disk; 0: none. */
  constructor(path: string, fileSystem: FileSystem, last: { log: number; sequence: number; isEmpty: boolean }) {
    this.#path = path;
    this.#fs = fileSystem;
    this.#log = last.log;
    this.#sequence = last.sequence;
    this.#isEmpty = last.isEmpty && last.log > 0;
  }

  /** Durable when it resolves, all or nothing. Without changes, only those of failed writes are certainly void then. */
  append(changes: readonly Change[]): Promise<void> {
    return this.#queue.run(async () => {
      this.#file ??= await this.#startSegment();
      if (changes.length === 0) return;
      const frame = await frameOfList(this.#sequence + 1, changes);
      const size = frame.reduce((sum, piece) => sum + piece.length, 0);
      try {
        for (const piece of frame) await this.#file.writeFile(piece);
        await this.#file.datasync();
      } catch (error) {
        // A server that ends before the next segment begins must not leave what was refused. Best effort.
        await this.#file.truncate(this.#size).catch(() => undefined);
        await this.#leave();
        throw error;
      }
      this.#sequence++;
      this.#isEmpty = false;
      this.#size += size;
      this.bytes += size;
    });
  }

  /** Later changes go to a new segment. Returns the position of a snapshot that has all before it. */
  rotate(): Promise<Position & { bytes: number }> {
    return this.#queue.run(async () => {
      await this.#leave();
      this.#file = await this.#startSegment();
      return { log: this.#log, sequence: this.#sequence, bytes: this.bytes };
    });
  }

  async close(): Promise<void> {
    await this.#queue.run(() => this.#leave());
  }

  async #leave(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
  }

  /** It has its name only when its first frame is on the disk. */
  async #startSegment(): Promise<File> {
    const log = this.#isEmpty ? this.#log : this.#log + 1;
    const path = segmentPath(this.#path, log);
    const temporary = siblingOf(this.#path, '.log.tmp');
    const first = frameOf({ sequence: this.#sequence, payload: { version: VERSION, log } });
    await this.#fs.rm(temporary, { force: true });
    const file = await this.#fs.open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(first);
      await file.sync();
      await this.#fs.rename(temporary, path);
      await syncDirectory(dirname(path), this.#fs);
    } catch (error) {
      await file.close().catch(() => undefined);
      await this.#fs.rm(temporary, { force: true }).catch(() => undefined);
      throw error;
    }
    this.#log = log;
    this.#size = first.length;
    this.#isEmpty = true;
    return file;
  }
}

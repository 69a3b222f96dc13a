import * as fs from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GroupCommit } from '../metadata/group-commit.ts';
import { type Line, lineOf, readLines } from './answer-lines.ts';

/** The file operations in use; tests replace them to inject failures. */
export type FileSystem = Pick<typeof fs, 'open' | 'rename' | 'rm' | 'readFile' | 'copyFile'>;

interface AnswerFileOptions {
  path: string;
  /** All records that are still needed, for a new file. */
  live: () => Iterable<Line>;
  failed: (error: unknown) => void;
  fileSystem?: FileSystem | undefined;
}

/** The file is replaced when it has this many bytes more than twice its size after the last replacement. */
const SPARE_BYTES = 1024 * 1024;
/** Bytes passed to the host in one write. */
const BLOCK = 1 << 18;

/**
 * An append-only file of records, mode 0600. Records appended at the same time share one fdatasync(2). After a failed
 * write, and when most of its records are needed no more, the file is replaced atomically by a new one. It is created
 * by the first record. The owner calls `close`.
 */
export class AnswerFile {
  readonly #options: AnswerFileOptions;
  readonly #fs: FileSystem;
  readonly #commit: GroupCommit<string | undefined>;
  #waiting: string[] = [];
  #handle: fs.FileHandle | undefined;
  #size = 0;
  #sizeWhenReplaced = 0;
  #replace = false;

  constructor(options: AnswerFileOptions) {
    this.#options = options;
    this.#fs = options.fileSystem ?? fs;
    this.#commit = new GroupCommit(() => this.#write(), options.failed);
  }

  /** Reads the records. Damaged lines are left out, and the damaged file is kept as `.damaged`. Call once, first. */
  async load(): Promise<{ lines: readonly Line[]; damaged: number }> {
    const { path } = this.#options;
    const content = await this.#fs.readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (content === undefined) {
      this.#replace = true;
      return { lines: [], damaged: 0 };
    }
    const { lines, damaged, torn } = readLines(content.toString('utf8'));
    if (damaged > 0) await this.#fs.copyFile(path, `${path}.damaged`);
    this.#size = content.length;
    this.#sizeWhenReplaced = content.length;
    this.#replace = damaged > 0 || torn;
    return { lines, damaged };
  }

  /** Resolves when the record is durable; rejects with UNAVAILABLE if it could not be stored. */
  append(line: Line): Promise<void> {
    const text = lineOf(line);
    this.#waiting.push(text);
    return this.#commit.add(text, () => {
      this.#waiting = this.#waiting.filter((each) => each !== text);
    });
  }

  /** Replaces the file if more than half of it is needed no more. `needed`: bytes of the needed records. */
  async tidy(needed: number): Promise<void> {
    if (this.#size <= 2 * needed) return;
    this.#replace = true;
    await this.#commit.add(undefined, () => undefined);
  }

  async close(): Promise<void> {
    await this.#commit.close();
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #write(): Promise<void> {
    const lines = this.#waiting;
    this.#waiting = [];
    if (this.#size > 2 * this.#sizeWhenReplaced + SPARE_BYTES) this.#replace = true;
    try {
      // A new file has the waiting records too: they are among the needed ones.
      if (this.#replace) await this.#replaceFile();
      else await this.#appendAll(lines.join(''));
    } catch (error) {
      // What a failed write or sync left in the file is unknown.
      this.#replace = true;
      throw error;
    }
  }

  async #appendAll(text: string): Promise<void> {
    this.#handle ??= await this.#fs.open(this.#options.path, 'a', 0o600);
    await this.#handle.appendFile(text);
    await this.#handle.datasync();
    this.#size += Buffer.byteLength(text);
  }

  async #replaceFile(): Promise<void> {
    const { path, live } = this.#options;
    const lines = [...live()];
    const temporary = join(dirname(path), `.${basename(path)}.tmp`);
    await this.#fs.rm(temporary, { force: true });
    const handle = await this.#fs.open(temporary, 'ax', 0o600);
    let size: number;
    try {
      size = await writeAll(handle, lines);
      await handle.sync();
      await this.#fs.rename(temporary, path);
      await syncDirectory(this.#fs, dirname(path));
    } catch (error) {
      await handle.close();
      throw error;
    }
    await this.#handle?.close();
    this.#handle = handle;
    this.#size = size;
    this.#sizeWhenReplaced = size;
    this.#replace = false;
  }
}

/** Encodes and writes the records in steps. Returns their bytes. */
async function writeAll(handle: fs.FileHandle, lines: readonly Line[]): Promise<number> {
  let size = 0;
  let block = '';
  for (const [index, line] of lines.entries()) {
    block += lineOf(line);
    if (block.length < BLOCK && index < lines.length - 1) continue;
    size += Buffer.byteLength(block);
    await handle.appendFile(block);
    block = '';
  }
  return size;
}

async function syncDirectory(fileSystem: FileSystem, path: string): Promise<void> {
  const directory = await fileSystem.open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { EIO, ENOSPC, hostErrno } from '../errno.ts';

/** Lines are written in blocks of about this size when the journal is rewritten. */
const BLOCK = 1 << 20;

/**
 * An append-only file of JSON lines, one byte a char (latin1): names come back byte for byte, and JSON escapes line
 * ends. A line is there whole or not at all: it is handed to the host in one write before the caller goes on (a killed
 * server loses nothing), and a torn last line is cut off by `load`. Only `sync` outlives a power failure.
 */
export class Journal {
  readonly #path: string;
  #fd = -1;
  #broken = false;
  #nameSynced = false;
  /** Bytes in the file. */
  size = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Every whole line, parsed; none when there is no file. Throws when a line other than the last cannot be read: a
   * damaged journal is never taken for a short one.
   */
  load(): unknown[] {
    rmSync(`${this.#path}.new`, { force: true });
    const read = readJournal(this.#path);
    if (read === undefined) return [];
    this.#open();
    if (read.torn) ftruncateSync(this.#fd, read.size);
    this.size = read.size;
    return read.records;
  }

  /** What is in the file now is the file `path`, too, and changes no more when this one is rewritten. */
  linkTo(path: string): void {
    rmSync(path, { force: true });
    linkSync(this.#path, path);
  }

  append(record: unknown): void {
    if (this.#broken) throw EIO;
    const line = `${JSON.stringify(record)}\n`;
    try {
      if (this.#fd === -1) this.#open();
      // Chars are bytes here, so a short count is a full disk.
      if (writeSync(this.#fd, line, null, 'latin1') !== line.length) throw ENOSPC;
    } catch (error) {
      this.#cut();
      throw hostErrno(error);
    }
    this.size += line.length;
  }

  /** Replaces the whole file, durably, by `records`: after a crash it is the old or the new one. */
  rewrite(records: Iterable<unknown>): void {
    const path = `${this.#path}.new`;
    rmSync(path, { force: true });
    const fd = openSync(path, 'ax', 0o600);
    let size = 0;
    try {
      let block = '';
      for (const record of records) {
        block += `${JSON.stringify(record)}\n`;
        if (block.length >= BLOCK) {
          size += writeAll(fd, block);
          block = '';
        }
      }
      size += writeAll(fd, block);
      fsyncSync(fd);
      renameSync(path, this.#path);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    this.close();
    this.#fd = fd;
    this.size = size;
    try {
      this.#syncName();
    } catch (error) {
      // The disk has one of the two, and nobody knows which.
      this.#broken = true;
      throw error;
    }
  }

  sync(): void {
    if (this.#fd === -1) return;
    fsyncSync(this.#fd);
    if (!this.#nameSynced) this.#syncName();
  }

  close(): void {
    if (this.#fd !== -1) closeSync(this.#fd);
    this.#fd = -1;
  }

  #open(): void {
    this.#fd = openSync(this.#path, 'a', 0o600);
  }

  #syncName(): void {
    const dir = openSync(dirname(this.#path), 'r');
    fsyncSync(dir);
    closeSync(dir);
    this.#nameSynced = true;
  }

  /** Takes half a line off again. If even that fails nothing more may be appended after it. */
  #cut(): void {
    try {
      if (this.#fd !== -1) ftruncateSync(this.#fd, this.size);
    } catch {
      this.#broken = true;
    }
  }
}

/** Every whole line; undefined: there is no such file. Throws when a line other than a torn last one cannot be read. */
export function readJournal(path: string): { records: unknown[]; size: number; torn: boolean } | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const size = text.lastIndexOf('\n') + 1;
  // Only between the lines: JSON escapes line ends. One array is parsed in half the time of its lines.
  const lines = size === 0 ? '' : text.slice(0, size - 1).replaceAll('\n', ',');
  return { records: JSON.parse(`[${lines}]`) as unknown[], size, torn: size < text.length };
}

function writeAll(fd: number, text: string): number {
  const bytes = Buffer.from(text, 'latin1');
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done);
  return done;
}

import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
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
    let text: string;
    try {
      text = readFileSync(this.#path, 'latin1');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
    const end = text.lastIndexOf('\n') + 1;
    const lines = end === 0 ? [] : text.slice(0, end - 1).split('\n');
    const records = lines.map((line) => JSON.parse(line) as unknown);
    this.#open();
    if (end < text.length) ftruncateSync(this.#fd, end);
    this.size = end;
    return records;
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
    const fd = openSync(path, 'w', 0o600);
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
    } finally {
      closeSync(fd);
    }
    renameSync(path, this.#path);
    this.close();
    this.#open();
    this.size = size;
    this.#syncName();
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

function writeAll(fd: number, text: string): number {
  const bytes = Buffer.from(text, 'latin1');
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done);
  return done;
}

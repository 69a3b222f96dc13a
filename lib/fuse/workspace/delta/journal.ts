import {
  closeSync,
  fstatSync,
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
import { Errno } from '../../filesystem.ts';
import { EDQUOT, EIO, ENOSPC, hostErrno } from '../errno.ts';
import { type Joint, JournalReserve } from './journal-reserve.ts';

/** Lines are written in blocks of about this size when the journal is rewritten. */
const BLOCK = 1 << 20;

/**
 * An append-only file of JSON lines, one byte a char (latin1): names come back byte for byte, and JSON escapes line
 * ends. A line is there whole or not at all: it is handed to the host in one write before the caller goes on (a killed
 * server loses nothing), and a torn last line is cut off by `load`. Only `sync` outlives a power failure. On a full disk
 * lines that make room go to a reserve beside it until there is some.
 */
export class Journal {
  readonly #path: string;
  readonly #reserve: JournalReserve;
  #ino = 0;
  #fd = -1;
  #broken = false;
  #nameSynced = false;
  /** Bytes in the file. */
  #size = 0;

  constructor(path: string) {
    this.#path = path;
    this.#reserve = new JournalReserve(`${path}.reserve`);
  }

  /** Bytes of all lines. */
  get size(): number {
    return this.#size + this.#reserve.lines.length;
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
    this.#size = read.size;
    this.#reserve.load(this.#joint);
    return [...read.records, ...parse(this.#reserve.lines)];
  }

  /** What is in the file now is the file `path`, too, and changes no more when this one is rewritten. */
  linkTo(path: string): void {
    if (!this.#takeFromReserve()) throw ENOSPC;
    rmSync(path, { force: true });
    linkSync(this.#path, path);
  }

  /** `makesRoom`: it is about less than there was, so a full disk must not refuse it. */
  append(record: unknown, makesRoom = false): void {
    if (this.#broken) throw EIO;
    const line = `${JSON.stringify(record)}\n`;
    try {
      if (this.#fd === -1) this.#open();
      if (!this.#takeFromReserve()) throw ENOSPC;
      this.#write(line);
      this.#reserve.make();
    } catch (error) {
      const errno = hostErrno(error);
      if (!makesRoom || !isFull(errno) || !this.#reserve.add(line, this.#joint)) throw errno;
    }
  }

  /** Chars are bytes here, so a short count is a full disk. */
  #write(text: string): void {
    try {
      if (writeSync(this.#fd, text, null, 'latin1') !== text.length) throw ENOSPC;
    } catch (error) {
      this.#cut();
      throw error;
    }
    this.#size += text.length;
  }

  /** Lines of the reserve come first. False: there is no room for them yet. */
  #takeFromReserve(): boolean {
    const { lines } = this.#reserve;
    if (lines === '') return true;
    try {
      this.#write(lines);
    } catch {
      return false;
    }
    this.#reserve.clear();
    return true;
  }

  get #joint(): Joint {
    return { ino: this.#ino, size: this.#size };
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
    if (this.#fd !== -1) closeSync(this.#fd);
    this.#fd = fd;
    this.#ino = fstatSync(fd).ino;
    this.#size = size;
    // Not before: the reserve was of the file that is gone now.
    this.#reserve.clear();
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
    this.#reserve.sync();
    if (!this.#nameSynced) this.#syncName();
  }

  close(): void {
    if (this.#fd !== -1) closeSync(this.#fd);
    this.#fd = -1;
    this.#reserve.close();
  }

  #open(): void {
    this.#fd = openSync(this.#path, 'a', 0o600);
    this.#ino = fstatSync(this.#fd).ino;
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
      if (this.#fd !== -1) ftruncateSync(this.#fd, this.#size);
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
  return { records: parse(text.slice(0, size)), size, torn: size < text.length };
}

/** Only between the lines: JSON escapes line ends. One array is parsed in half the time of its lines. */
function parse(lines: string): unknown[] {
  return JSON.parse(`[${lines.slice(0, -1).replaceAll('\n', ',')}]`) as unknown[];
}

function isFull(thrown: unknown): boolean {
  return thrown instanceof Errno && (thrown.errno === ENOSPC.errno || thrown.errno === EDQUOT.errno);
}

function writeAll(fd: number, text: string): number {
  const bytes = Buffer.from(text, 'latin1');
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done);
  return done;
}

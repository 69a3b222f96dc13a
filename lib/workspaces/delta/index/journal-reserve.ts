import { constants, existsSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { closeQuietly } from '../../../linux/close.ts';
import { EDQUOT, ENOSPC, Errno } from '../../../linux/errno.ts';

const SIZE = 32 * 1024;
/** Lines after which the creation of a reserve is tried again on a full disk. */
const RETRY_LINES = 256;
const { O_RDWR, O_CREAT, O_EXCL } = constants;

/** The journal, by its inode number, and the size in bytes that the lines of the reserve continue from. */
export interface JournalPosition {
  ino: number;
  size: number;
}

/**
 * Space for journal lines on a full disk: a file with preallocated blocks, which is overwritten in place. It begins
 * with the journal position; a zero byte follows the last line. (Copy-on-write file systems such as btrfs may still
 * report a full disk.)
 */
export class JournalReserve {
  readonly #path: string;
  #fd = -1;
  #untilRetry = 0;
  #head = '';
  /** Lines in the file, and how many of their bytes the journal contains already. */
  #text = '';
  #consumed = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** The lines that the journal does not contain yet. */
  get lines(): string {
    return this.#text.slice(this.#consumed);
  }

  /** Returns what `lines` would be after `load`, without changing anything on disk. */
  static read(path: string, joint: JournalPosition): string {
    if (!existsSync(path)) return '';
    const found = parseReserve(readFileSync(path, 'latin1'), joint);
    return found === undefined || found.stale ? '' : found.text.slice(found.taken);
  }

  /** Reads the reserve of an earlier server; the argument is the present end of the journal. */
  load({ ino, size }: JournalPosition): void {
    let file: string;
    try {
      file = readFileSync(this.#path, 'latin1');
      this.#fd = openSync(this.#path, O_RDWR);
    } catch {
      this.make();
      return;
    }
    const found = parseReserve(file, { ino, size });
    if (found === undefined) return;
    this.#head = found.head;
    this.#text = found.text;
    this.#consumed = found.taken;
    if (found.stale) this.clear();
  }

  /**
   * Creates the reserve if there is space for it. Never throws. Without a reserve, a full disk rejects removals, too.
   */
  make(): void {
    if (this.#fd !== -1 || this.#untilRetry-- > 0) return;
    this.#untilRetry = RETRY_LINES;
    try {
      const fd = openSync(this.#path, O_RDWR | O_CREAT | O_EXCL, 0o600);
      if (fillZeros(fd, SIZE)) {
        this.#fd = fd;
        return;
      }
      closeQuietly(fd);
    } catch {
      // No space, or an unreadable file is in its place.
    }
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // It prevents a reserve until it is removed.
    }
  }

  /** Appends a line. Returns false if the reserve has no space. */
  add(line: string, { ino, size }: JournalPosition): boolean {
    if (this.#fd === -1) return false;
    const first = this.#text === '';
    const head = first ? `${ino} ${size}\n` : this.#head;
    const text = first ? head + line : line;
    const at = first ? 0 : head.length + this.#text.length;
    // A zero byte remains after the last line.
    if (at + text.length >= SIZE) return false;
    const bytes = Buffer.from(text, 'latin1');
    try {
      if (writeSync(this.#fd, bytes, 0, bytes.length, at) !== bytes.length) return false;
    } catch {
      return false;
    }
    this.#head = head;
    this.#text += line;
    return true;
  }

  /**
   * Clears the reserve, when the journal contains all its lines. The start is overwritten first, so that a crash leaves
   * no lines without their position. Never throws.
   */
  clear(): void {
    const used = this.#head.length + this.#text.length;
    try {
      if (this.#fd !== -1 && used > 0) fillZeros(this.#fd, used);
    } catch {
      // The remaining position matches no journal any more.
    }
    this.#head = this.#text = '';
    this.#consumed = 0;
  }

  /** Path of the file if it has lines that must be synced with the journal. */
  get toSync(): string | undefined {
    return this.#text === '' ? undefined : this.#path;
  }

  /** Closes the file. */
  close(): void {
    if (this.#fd !== -1) closeQuietly(this.#fd);
    this.#fd = -1;
  }
}

/**
 * Parses a reserve. Returns undefined for an empty one. `stale`: it belongs to another journal, or the journal contains
 * all its lines.
 */
function parseReserve(
  file: string,
  { ino, size }: JournalPosition,
): { head: string; text: string; taken: number; stale: boolean } | undefined {
  const used = Math.max(0, file.indexOf('\0'));
  const end = file.lastIndexOf('\n', used) + 1;
  const start = file.indexOf('\n') + 1;
  if (start === 0 || start > end) return undefined;
  const [ofIno = 0, at = 0] = file.slice(0, start).split(' ').map(Number);
  const text = file.slice(start, end);
  // After a crash the journal may contain a part of them.
  const taken = size - at;
  return { head: file.slice(0, start), text, taken, stale: ofIno !== ino || taken < 0 || taken >= text.length };
}

function fillZeros(fd: number, length: number): boolean {
  return writeSync(fd, Buffer.alloc(length), 0, length, 0) === length;
}

/** Whether a host error means that the disk is full. */
export function isFull(thrown: unknown): boolean {
  return thrown instanceof Errno && (thrown.errno === ENOSPC.errno || thrown.errno === EDQUOT.errno);
}

import { constants, existsSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { closeQuietly } from '../../../linux/close.ts';

const SIZE = 32 * 1024;
/** A disk without room for a reserve is asked again after so many lines. */
const RETRY_LINES = 256;
const { O_RDWR, O_CREAT, O_EXCL } = constants;

/** Which journal the lines go on from: its inode and its size. */
export interface JournalPosition {
  ino: number;
  size: number;
}

/**
 * Room for lines of a journal on a full disk: a file whose blocks are its own from the start, written over in place, so
 * that nobody can take them. It begins with the joint; behind the last line are zeros. (File systems that never write in
 * place, like btrfs, may refuse here as well.)
 */
export class JournalReserve {
  readonly #path: string;
  #fd = -1;
  #untilRetry = 0;
  #head = '';
  /** Lines in the file, and how much of them the journal has. */
  #text = '';
  #consumed = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** What the journal has not yet. */
  get lines(): string {
    return this.#text.slice(this.#consumed);
  }

  /** What `lines` would be after `load`, with nothing taken up. */
  static read(path: string, joint: JournalPosition): string {
    if (!existsSync(path)) return '';
    const found = parseReserve(readFileSync(path, 'latin1'), joint);
    return found === undefined || found.stale ? '' : found.text.slice(found.taken);
  }

  /** Takes up what an earlier server left; `joint` is the journal's end now. */
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

  /** When there is room for it; never throws. Without one, a full disk refuses removals like everything else. */
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
      // There is no room now, or something is there that cannot be read.
    }
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // It is in the way until then.
    }
  }

  /** Whether there was room for a line more. */
  add(line: string, { ino, size }: JournalPosition): boolean {
    if (this.#fd === -1) return false;
    const first = this.#text === '';
    const head = first ? `${ino} ${size}\n` : this.#head;
    const text = first ? head + line : line;
    const at = first ? 0 : head.length + this.#text.length;
    // One zero stays behind the last line.
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

  /** The journal has all lines. The start goes first: a crash leaves no lines without their joint. Never throws. */
  clear(): void {
    const used = this.#head.length + this.#text.length;
    try {
      if (this.#fd !== -1 && used > 0) fillZeros(this.#fd, used);
    } catch {
      // What is left is of a joint that no journal has any more.
    }
    this.#head = this.#text = '';
    this.#consumed = 0;
  }

  sync(): void {
    if (this.#text !== '') fsyncSync(this.#fd);
  }

  close(): void {
    if (this.#fd !== -1) closeQuietly(this.#fd);
    this.#fd = -1;
  }
}

/** undefined: there is nothing in it. `stale`: what it has is of another journal, or the journal has it all. */
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
  // A crash may have let the journal have a part of them.
  const taken = size - at;
  return { head: file.slice(0, start), text, taken, stale: ofIno !== ino || taken < 0 || taken >= text.length };
}

function fillZeros(fd: number, length: number): boolean {
  return writeSync(fd, Buffer.alloc(length), 0, length, 0) === length;
}

import {
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { Counted, complete, type Steps } from '../../../fuse/connection/steps.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { EDQUOT, EIO, ENOSPC, Errno, hostErrno } from '../../../linux/errno.ts';
import { Damage } from '../damage.ts';
import { type Lines, lineInParts, plainLine, readLines, readMore, sealedLine } from './journal-lines.ts';
import { markedLoss, readMark, writeMark } from './journal-mark.ts';
import { type JournalPosition, JournalReserve } from './journal-reserve.ts';
import { type Header, headerOf } from './records.ts';

/** Lines are written in blocks of about this size when the journal is rewritten. */
const BLOCK = 1 << 16;
/** Records that are made lines in one step. */
const AT_ONCE = 16;
/** Elements of a record that is written at once. */
const SHORT = 256;

/**
 * An append-only file of JSON lines with checksums, one byte a char (latin1): names come back byte for byte, and JSON
 * escapes line ends. A line is there whole or not at all: it is handed to the host in one write before the caller goes on (a killed
 * server loses nothing), and a torn last line is cut off by `load`. Only `sync` outlives a power failure. On a full disk
 * lines that make room go to a reserve beside it until there is some.
 */
export class Journal {
  readonly #path: string;
  readonly #reserve: JournalReserve;
  #ino = 0;
  #fd = -1;
  #broken = false;
  /** A line, or a new journal, is being written a part at a time. */
  #busy = false;
  #nameSynced = false;
  /** The size that was last marked; of this journal, not of the one before. */
  #marked = -1;
  /** Bytes in the file. */
  #size = 0;
  /** Lines carry checksums; not in a journal of an older server that could not be rewritten yet. */
  #sealed = true;
  /** Of the last line. */
  #sum = 0;
  #generation = 0;

  constructor(path: string) {
    this.#path = path;
    this.#reserve = new JournalReserve(`${path}.reserve`);
  }

  /** Lines carry checksums. */
  get sealed(): boolean {
    return this.#sealed;
  }

  /** For the header of the journal that takes the place of this one. */
  get nextGeneration(): number {
    return this.#generation + 1;
  }

  /** Bytes of all lines. */
  get size(): number {
    return this.#size + this.#reserve.lines.length;
  }

  /**
   * Every whole line, parsed; none when there was never a journal. Throws Damage when a line other than the last cannot be
   * read, or when there were more lines on the disk: a damaged journal is never taken for a short one.
   */
  load(): unknown[] {
    return complete(this.loading());
  }

  /** As `load`, a part at a time. */
  *loading(): Steps<unknown[]> {
    rmSync(`${this.#path}.new`, { force: true });
    const read = yield* readMarked(this.#path);
    if (read === undefined) return [];
    const { header } = read;
    this.#open();
    if (read.torn) ftruncateSync(this.#fd, read.size);
    this.#size = read.size;
    if (header === undefined) return [];
    this.#sealed = read.sealed;
    this.#generation = header[7];
    this.#reserve.load(this.#position);
    const more = readMore(this.#reserve.lines, read);
    this.#sum = more.sum;
    return [...read.records, ...more.records];
  }

  /** What is in the file now is the file `path`, too, and changes no more when this one is rewritten. */
  linkTo(path: string): void {
    if (this.#broken || this.#busy) throw EIO;
    if (!this.#drainReserve()) throw ENOSPC;
    rmSync(path, { force: true });
    linkSync(this.#path, path);
  }

  /** `makesRoom`: it is about less than there was, so a full disk must not refuse it. */
  append(record: readonly unknown[], makesRoom = false): void {
    if (this.#broken || this.#busy) throw EIO;
    const { line, sum } = this.#sealed ? sealedLine(record, this.#sum) : { line: plainLine(record), sum: 0 };
    this.#appendLine(line, makesRoom);
    this.#sum = sum;
  }

  /**
   * As `append`, of a long record a part at a time. Until the last part is written the line is a torn one, which a crash
   * leaves and `load` cuts off: the record is there whole or not at all. The caller lets nothing else be appended meanwhile.
   */
  *appending(record: readonly unknown[], makesRoom = false): Steps<void> {
    if (record.length <= SHORT || !this.#sealed) {
      this.append(record, makesRoom);
      return;
    }
    if (this.#broken || this.#busy) throw EIO;
    this.#busy = true;
    try {
      const { parts, sum } = yield* lineInParts(record, this.#sum);
      yield* this.#appendParts(parts, makesRoom);
      this.#sum = sum;
    } finally {
      this.#busy = false;
    }
  }

  *#appendParts(parts: readonly string[], makesRoom: boolean): Steps<void> {
    try {
      if (this.#fd === -1) this.#open();
      if (!this.#drainReserve()) throw ENOSPC;
      this.#size += yield* this.#writeParts(parts);
      this.#reserve.make();
    } catch (error) {
      this.#fallBackToReserve(error, makesRoom, parts.join(''));
    }
  }

  *#writeParts(parts: readonly string[]): Steps<number> {
    let written = 0;
    try {
      for (const part of parts) {
        if (writeSync(this.#fd, part, null, 'latin1') !== part.length) throw ENOSPC;
        written += part.length;
        yield;
      }
    } catch (error) {
      this.#truncateTornLine();
      throw error;
    }
    return written;
  }

  /** The first line of a delta that had none. */
  begin(header: readonly unknown[]): void {
    this.append(header);
    writeMark(this.#path, { generation: this.#generation, size: 0 });
  }

  #appendLine(line: string, makesRoom: boolean): void {
    try {
      if (this.#fd === -1) this.#open();
      if (!this.#drainReserve()) throw ENOSPC;
      this.#write(line);
      this.#reserve.make();
    } catch (error) {
      this.#fallBackToReserve(error, makesRoom, line);
    }
  }

  /** Throws, unless the line makes room on a full disk and the reserve takes it. */
  #fallBackToReserve(error: unknown, makesRoom: boolean, line: string): void {
    const errno = hostErrno(error);
    if (!makesRoom || !isFull(errno) || !this.#reserve.add(line, this.#position)) throw errno;
  }

  /** Chars are bytes here, so a short count is a full disk. */
  #write(text: string): void {
    try {
      if (writeSync(this.#fd, text, null, 'latin1') !== text.length) throw ENOSPC;
    } catch (error) {
      this.#truncateTornLine();
      throw error;
    }
    this.#size += text.length;
  }

  /** Lines of the reserve come first. False: there is no room for them yet. */
  #drainReserve(): boolean {
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

  get #position(): JournalPosition {
    return { ino: this.#ino, size: this.#size };
  }

  /**
   * Replaces the whole file by `records`: after a crash it is the old or the new one. When this throws it is the old one.
   * It is durable after `confirm` or `sync`.
   */
  rewrite(records: Iterable<readonly unknown[]>): void {
    complete(this.rewriting(records));
  }

  /** As `rewrite`, a part at a time. The caller lets nothing change that the records tell of, and nothing be appended. */
  *rewriting(records: Iterable<readonly unknown[]>): Steps<void> {
    if (this.#broken || this.#busy) throw EIO;
    this.#busy = true;
    try {
      yield* this.#rewriteAll(records);
    } finally {
      this.#busy = false;
    }
  }

  *#rewriteAll(records: Iterable<readonly unknown[]>): Steps<void> {
    const path = `${this.#path}.new`;
    rmSync(path, { force: true });
    const fd = openSync(path, 'ax', 0o600);
    const counted = new Counted(AT_ONCE);
    let size = 0;
    let last = 0;
    let ino: number;
    try {
      let block = '';
      for (const record of records) {
        const { line, sum } = sealedLine(record, last);
        last = sum;
        block += line;
        if (block.length >= BLOCK) {
          size += writeAll(fd, block);
          block = '';
        }
        yield* counted.one();
      }
      size += writeAll(fd, block);
      fsyncSync(fd);
      ino = fstatSync(fd).ino;
      renameSync(path, this.#path);
    } catch (error) {
      closeQuietly(fd);
      throw error;
    }
    // The new file is the journal: from here on nothing throws, and the caller goes on from it.
    if (this.#fd !== -1) closeQuietly(this.#fd);
    this.#fd = fd;
    this.#ino = ino;
    this.#size = size;
    this.#sealed = true;
    this.#sum = last;
    this.#generation++;
    this.#marked = -1;
    this.#nameSynced = false;
    // Not before: the reserve was of the file that is gone now.
    this.#reserve.clear();
    try {
      this.confirm();
    } catch {
      // Until a later one succeeds, a power failure may bring the old file back.
    }
  }

  /** After `rewrite`: returns when a power failure cannot bring the old file back. Throws when that is not known. */
  confirm(): void {
    if (this.#nameSynced) return;
    this.#syncName();
    this.#mark();
  }

  sync(): void {
    if (this.#fd === -1) return;
    fsyncSync(this.#fd);
    this.#reserve.sync();
    if (!this.#nameSynced) this.#syncName();
    this.#mark();
  }

  /** All that is in the file is on the disk. */
  #mark(): void {
    if (this.#size === this.#marked || this.#size === 0) return;
    writeMark(this.#path, { generation: this.#generation, size: this.#size });
    this.#marked = this.#size;
  }

  close(): void {
    if (this.#fd !== -1) closeQuietly(this.#fd);
    this.#fd = -1;
    this.#reserve.close();
  }

  #open(): void {
    this.#fd = openSync(this.#path, 'a', 0o600);
    this.#ino = fstatSync(this.#fd).ino;
  }

  #syncName(): void {
    const dir = openSync(dirname(this.#path), 'r');
    try {
      fsyncSync(dir);
    } finally {
      closeQuietly(dir);
    }
    this.#nameSynced = true;
  }

  /** Takes half a line off again. If even that fails nothing more may be appended after it. */
  #truncateTornLine(): void {
    try {
      if (this.#fd !== -1) ftruncateSync(this.#fd, this.#size);
    } catch {
      this.#broken = true;
    }
  }
}

/** As `Journal.load`, with nothing changed on the disk and no reserve made. undefined: there was never a journal. */
export function readRecords(path: string): { records: unknown[][]; header: Header } | undefined {
  const read = complete(readMarked(path));
  if (read?.header === undefined) return undefined;
  const lines = JournalReserve.read(`${path}.reserve`, { ino: statSync(path).ino, size: read.size });
  return { records: [...read.records, ...readMore(lines, read).records], header: read.header };
}

/** Throws Damage when there is less than was marked. `header`: of one that is not empty. */
function* readMarked(path: string): Steps<(JournalFile & { header: Header | undefined }) | undefined> {
  const read = yield* readJournal(path);
  const header = read === undefined || read.records.length === 0 ? undefined : headerOf(read.records);
  const found = header && { generation: header[7], size: read!.size };
  const loss = markedLoss(readMark(path), found);
  if (loss !== undefined) throw new Damage(loss);
  return read && { ...read, header };
}

/** What is in the file of a journal. */
export interface JournalFile extends Lines {
  /** Of its whole lines. */
  size: number;
  /** A last line is not whole. */
  torn: boolean;
}

/** Every whole line; undefined: there is no such file. Throws Damage when a line other than a torn last one cannot be read. */
export function* readJournal(path: string): Steps<JournalFile | undefined> {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return yield* readAll(fd);
  } finally {
    closeQuietly(fd);
  }
}

function* readAll(fd: number): Steps<JournalFile> {
  const buffer = Buffer.allocUnsafe(BLOCK);
  const records: unknown[][] = [];
  let lines: Lines | undefined;
  let size = 0;
  /** Since the last line end. */
  let rest: string[] = [];
  for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer)) {
    const part = buffer.toString('latin1', 0, count);
    const end = part.lastIndexOf('\n') + 1;
    if (end === 0) rest.push(part);
    else {
      const text = rest.join('') + part.slice(0, end);
      rest = end < part.length ? [part.slice(end)] : [];
      lines = lines === undefined ? readLines(text) : readMore(text, lines, records.length);
      for (const record of lines.records) records.push(record);
      size += text.length;
    }
    yield;
  }
  return { ...(lines ?? readLines('')), records, size, torn: rest.length > 0 };
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

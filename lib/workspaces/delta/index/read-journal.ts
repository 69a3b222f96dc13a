import { openSync, readSync, statSync } from 'node:fs';
import { complete, type Steps } from '../../../fuse/connection/steps.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { errorCode } from '../../../linux/errno.ts';
import { Damage } from '../damage.ts';
import { decodeHeader, type Header } from './header.ts';
import { type Lines, readLines, readMore } from './journal-lines.ts';
import { markedLoss, readMark } from './journal-mark.ts';
import { JournalReserve } from './journal-reserve.ts';
import { readLongLine } from './long-line.ts';
import { OperationParser } from './operation-parser.ts';
import type { Op } from './records.ts';

/** Bytes read in one step. */
const BLOCK = 1 << 16;
/** Blocks from which on a line is read in steps. */
const LONG = 4;

/** As `Journal.load`, without changing anything on disk. Returns undefined if there was never a journal. */
export function readRecords(path: string): { header: Header; lines: Op[][] } | undefined {
  const all = new CollectedLines();
  const read = complete(readMarked(path, all));
  if (read?.header === undefined) return undefined;
  const reserved = JournalReserve.read(`${path}.reserve`, { ino: statSync(path).ino, size: read.size });
  complete(all.lines(readMore(reserved, read).records as Op[][]));
  return { header: read.header, lines: all.collected };
}

/** Reads a journal. Throws Damage if it is shorter than its mark says, after the receiver got what there is. */
export function* readMarked(path: string, receiver: JournalReceiver): Steps<JournalFile | undefined> {
  const read = yield* readJournal(path, receiver);
  const found = read?.header && { generation: read.header.generation, size: read.size };
  const loss = markedLoss(readMark(path), found);
  if (loss !== undefined) throw new Damage(loss);
  return read;
}

/** Receives a journal while it is read, so that its records are never in memory all at once. */
export interface JournalReceiver {
  /** Called once, before the lines. */
  header(header: Header): Steps<void>;
  /** Called with some of the lines after the first, or a part of a long one. Their checksums match. */
  lines(lines: readonly Op[][]): Steps<void>;
}

/** Keeps all lines. */
export class CollectedLines implements JournalReceiver {
  readonly collected: Op[][] = [];

  *header(): Steps<void> {
    yield;
  }

  *lines(lines: readonly Op[][]): Steps<void> {
    for (const line of lines) this.collected.push(line);
    yield;
  }
}

/** What is known of a journal file when it was read. */
export interface JournalFile extends Pick<Lines, 'sealed' | 'sum'> {
  /** Undefined if there was never a journal, or if its first line is incomplete. */
  header: Header | undefined;
  /** Size of the complete lines in bytes. */
  size: number;
  /** The last line is incomplete. */
  torn: boolean;
}

/**
 * Reads all complete lines, in steps, and passes them to the receiver. Returns undefined if the file does not exist. Throws Damage if a line other than
 * a torn last one is unreadable, or if it is not a journal of a supported version.
 */
export function* readJournal(path: string, receiver: JournalReceiver): Steps<JournalFile | undefined> {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return yield* readAll(fd, receiver);
  } finally {
    closeQuietly(fd);
  }
}

/** The lines after the first, then those in the reserve, read block by block as they are used; an empty one after each. */
export function* linesOf(path: string, reserved: string): Generator<Op[]> {
  const block = new CollectedLines();
  const reading = readJournal(path, block);
  try {
    for (;;) {
      const { done, value: read } = reading.next();
      yield* block.collected.splice(0);
      if (done) {
        if (read !== undefined) yield* readMore(reserved, read).records as Op[][];
        return;
      }
      yield [];
    }
  } finally {
    reading.return(undefined);
  }
}

/** Returns the header of a journal, in steps; undefined if there is none. Throws as `readJournal`. */
export function* readHeader(path: string): Steps<Header | undefined> {
  let header: Header | undefined;
  const reading = readJournal(path, {
    *header(found) {
      header = found;
      yield;
    },
    *lines() {
      yield;
    },
  });
  try {
    while (header === undefined && reading.next().done !== true) yield;
  } finally {
    reading.return(undefined);
  }
  return header;
}

function* readAll(fd: number, receiver: JournalReceiver): Steps<JournalFile> {
  const buffer = Buffer.allocUnsafe(BLOCK);
  const reader = new Reader(receiver);
  for (let length = readSync(fd, buffer); length > 0; length = readSync(fd, buffer)) {
    yield* reader.part(buffer.toString('latin1', 0, length));
    yield;
  }
  return reader.file;
}

/** Divides a journal into lines. */
class Reader {
  readonly #receiver: JournalReceiver;
  #header: Header | undefined;
  readonly #parser = new OperationParser();
  #lines = readLines('');
  #count = 0;
  #size = 0;
  /** Text since the last line end. */
  #rest: string[] = [];

  constructor(receiver: JournalReceiver) {
    this.#receiver = receiver;
  }

  /** What was read so far. */
  get file(): JournalFile {
    const { sealed, sum } = this.#lines;
    return { header: this.#header, sealed, sum, size: this.#size, torn: this.#rest.length > 0 };
  }

  /** Takes the next part of the file. */
  *part(part: string): Steps<void> {
    const isLong = this.#rest.length >= LONG && this.#header !== undefined && this.#lines.sealed;
    const start = isLong ? part.indexOf('\n') + 1 : 0;
    if (start > 0) yield* this.#longLine(part.slice(0, start));
    const end = part.lastIndexOf('\n') + 1;
    if (end > start) yield* this.#wholeLines(this.#takeRest() + part.slice(start, end));
    if (end < part.length) this.#rest.push(part.slice(end));
  }

  #takeRest(): string {
    const text = this.#rest.join('');
    this.#rest = [];
    return text;
  }

  *#longLine(end: string): Steps<void> {
    const parts = [...this.#rest, end];
    this.#rest = [];
    const { sealed, sum } = this.#lines;
    const read = yield* readLongLine(parts, sum, this.#count + 1, (ops) => this.#receiver.lines([ops]));
    this.#lines = { records: [], sealed, sum: read };
    this.#count++;
    for (const { length } of parts) this.#size += length;
  }

  *#wholeLines(text: string): Steps<void> {
    this.#lines = this.#count === 0 ? readLines(text) : readMore(text, this.#lines, this.#count, this.#parser);
    const { records } = this.#lines;
    this.#count += records.length;
    this.#size += text.length;
    if (this.#header === undefined) {
      this.#header = decodeHeader(records.shift()!);
      yield* this.#receiver.header(this.#header);
    }
    yield* this.#receiver.lines(records as Op[][]);
  }
}

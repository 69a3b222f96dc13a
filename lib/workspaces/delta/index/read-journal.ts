import { openSync, readSync, statSync } from 'node:fs';
import { complete, type Steps } from '../../../fuse/connection/steps.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { Damage } from '../damage.ts';
import { type Lines, readLines, readMore } from './journal-lines.ts';
import { markedLoss, readMark } from './journal-mark.ts';
import { JournalReserve } from './journal-reserve.ts';
import { type Header, headerOf } from './records.ts';

/** Bytes read in one step. */
const BLOCK = 1 << 16;

/** As `Journal.load`, without changing anything on disk. Returns undefined if there was never a journal. */
export function readRecords(path: string): { records: unknown[][]; header: Header } | undefined {
  const read = complete(readMarked(path));
  if (read?.header === undefined) return undefined;
  const lines = JournalReserve.read(`${path}.reserve`, { ino: statSync(path).ino, size: read.size });
  return { records: [...read.records, ...readMore(lines, read).records], header: read.header };
}

/** Reads a journal. Throws Damage if it is shorter than its mark says. `header`: undefined for an empty journal. */
export function* readMarked(path: string): Steps<(JournalFile & { header: Header | undefined }) | undefined> {
  const read = yield* readJournal(path);
  const header = read === undefined || read.records.length === 0 ? undefined : headerOf(read.records);
  const found = header && { generation: header[7], size: read!.size };
  const loss = markedLoss(readMark(path), found);
  if (loss !== undefined) throw new Damage(loss);
  return read && { ...read, header };
}

/** The contents of a journal file. */
export interface JournalFile extends Lines {
  /** Size of the complete lines in bytes. */
  size: number;
  /** The last line is incomplete. */
  torn: boolean;
}

/**
 * Reads all complete lines, in steps. Returns undefined if the file does not exist. Throws Damage if a line other than
 * a torn last one is unreadable.
 */
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
  /** Text since the last line end. */
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

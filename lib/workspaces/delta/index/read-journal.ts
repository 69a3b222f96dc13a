import { openSync, readSync, statSync } from 'node:fs';
import { complete, type Steps } from '../../../fuse/connection/steps.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { errorCode } from '../../../linux/errno.ts';
import { Damage } from '../damage.ts';
import { decodeHeader, type Header } from './header.ts';
import { type Lines, readLines, readMore } from './journal-lines.ts';
import { markedLoss, readMark } from './journal-mark.ts';
import { JournalReserve } from './journal-reserve.ts';
import type { Op } from './records.ts';

/** Bytes read in one step. */
const BLOCK = 1 << 16;

/** As `Journal.load`, without changing anything on disk. Returns undefined if there was never a journal. */
export function readRecords(path: string): { header: Header; lines: Op[][] } | undefined {
  const read = complete(readMarked(path));
  if (read?.header === undefined) return undefined;
  const reserved = JournalReserve.read(`${path}.reserve`, { ino: statSync(path).ino, size: read.size });
  return { header: read.header, lines: [...read.lines, ...(readMore(reserved, read).records as Op[][])] };
}

/** Reads a journal. Throws Damage if it is shorter than its mark says. */
export function* readMarked(path: string): Steps<JournalFile | undefined> {
  const read = yield* readJournal(path);
  const found = read?.header && { generation: read.header.generation, size: read.size };
  const loss = markedLoss(readMark(path), found);
  if (loss !== undefined) throw new Damage(loss);
  return read;
}

/** The parsed lines of a journal. */
export interface JournalContents {
  /** Undefined if there was never a journal, or if its first line is incomplete. */
  header: Header | undefined;
  /** The complete lines after the first. */
  lines: Op[][];
}

/** The contents of a journal file. */
export interface JournalFile extends JournalContents, Pick<Lines, 'sealed' | 'sum'> {
  /** Size of the complete lines in bytes. */
  size: number;
  /** The last line is incomplete. */
  torn: boolean;
}

/**
 * Reads all complete lines, in steps. Returns undefined if the file does not exist. Throws Damage if a line other than
 * a torn last one is unreadable, or if it is not a journal of a supported version.
 */
export function* readJournal(path: string): Steps<JournalFile | undefined> {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
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
  const { sealed, sum } = lines ?? readLines('');
  const [first] = records;
  const header = first && decodeHeader(first);
  return { header, lines: records.slice(1) as Op[][], sealed, sum, size, torn: rest.length > 0 };
}

import { fstatSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { Counted, type Steps } from '../../../fuse/connection/steps.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { sealedLine } from './journal-lines.ts';

/** Size of the blocks, in bytes, in which the new journal is written. */
const BLOCK = 1 << 16;
/** Records encoded in one step. */
const AT_ONCE = 16;

/** A journal file that was written whole. */
export interface NewJournal {
  /** Opened for appending; the caller closes it. */
  fd: number;
  ino: number;
  /** In bytes. */
  size: number;
  /** Checksum of the last line. */
  sum: number;
}

/**
 * Writes records to a new file and renames it to `path`, in steps. The contents are durable, the name is not. Throws
 * host errors with the old file in place.
 */
export function* replaceJournal(path: string, records: Iterable<readonly unknown[]>): Steps<NewJournal> {
  const newPath = `${path}.new`;
  rmSync(newPath, { force: true });
  const fd = openSync(newPath, 'ax', 0o600);
  try {
    const { size, sum } = yield* writeRecords(fd, records);
    fsyncSync(fd);
    const { ino } = fstatSync(fd);
    renameSync(newPath, path);
    return { fd, ino, size, sum };
  } catch (error) {
    closeQuietly(fd);
    throw error;
  }
}

function* writeRecords(fd: number, records: Iterable<readonly unknown[]>): Steps<{ size: number; sum: number }> {
  const counted = new Counted(AT_ONCE);
  let size = 0;
  let last = 0;
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
  return { size: size + writeAll(fd, block), sum: last };
}

function writeAll(fd: number, text: string): number {
  const bytes = Buffer.from(text, 'latin1');
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done);
  return done;
}

import { fstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import { closeQuietly } from '../../../linux/close.ts';
import type { BegunSync, OwnSyncs } from '../contents/host-syncs.ts';
import { sealedLine } from './journal-lines.ts';

/** Size of the blocks, in bytes, in which the new journal is written. */
const BLOCK = 1 << 16;
/** Records encoded in one step. */
const ITEMS_PER_STEP = 16;

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
 * Writes records, except empty ones, to a new file beside `path`, in steps. The contents are durable on return, the name is not. Throws host
 * errors. The caller calls `putInPlace` or `discard`. `alongside`: begins another sync that is to be done on return, too;
 * both need the other threads once.
 */
export function* writeNewJournal(
  path: string,
  records: Iterable<readonly unknown[]>,
  syncs: OwnSyncs,
  alongside: () => BegunSync = () => ({ files: [] }),
): Steps<NewJournal> {
  const newPath = newPathOf(path);
  rmSync(newPath, { force: true });
  const fd = openSync(newPath, 'ax', 0o600);
  try {
    const { size, sum } = yield* writeRecords(fd, records);
    yield* syncs.syncing(() => {
      const { files, synced } = alongside();
      return { files: [...files, { file: newPath, datasync: false }], ...(synced && { synced }) };
    });
    return { fd, ino: fstatSync(fd).ino, size, sum };
  } catch (error) {
    closeQuietly(fd);
    throw error;
  }
}

/** Renames the new file to `path`. Throws host errors with the old file in place. */
export function putInPlace(path: string): void {
  renameSync(newPathOf(path), path);
}

function newPathOf(path: string): string {
  return `${path}.new`;
}

function* writeRecords(fd: number, records: Iterable<readonly unknown[]>): Steps<{ size: number; sum: number }> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  let size = 0;
  let last = 0;
  let block = '';
  for (const record of records) {
    if (counter.count()) yield;
    if (record.length === 0) continue;
    const { line, sum } = sealedLine(record, last);
    last = sum;
    block += line;
    if (block.length >= BLOCK) {
      size += writeAll(fd, block);
      block = '';
    }
  }
  return { size: size + writeAll(fd, block), sum: last };
}

function writeAll(fd: number, text: string): number {
  const bytes = Buffer.from(text, 'latin1');
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done);
  return done;
}

import { constants, openSync, readFileSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { closeQuietly } from '../../../linux/close.ts';
import { errorCode } from '../../../linux/errno.ts';

const SIZE = 64;
const { O_RDWR, O_CREAT } = constants;

/** What is known to be durable of a journal. */
export interface Marked {
  /** Number of the journal among those that replaced each other; see `Header`. */
  generation: number;
  /** Synced size in bytes. */
  size: number;
}

/** Path of the mark beside each journal: with it, a lost or truncated journal is not mistaken for a new one. */
export function markPath(journal: string): string {
  return `${journal}.mark`;
}

/**
 * Writes the mark after the journal was synced. The mark itself is not synced: a power failure can leave an older one.
 * Never throws; a full disk may prevent it.
 */
export function writeMark(journal: string, { generation, size }: Marked): void {
  try {
    const fd = openSync(markPath(journal), O_RDWR | O_CREAT, 0o600);
    try {
      const text = `${generation} ${size}`;
      writeSync(fd, `${text} ${crc32(text)}`.padEnd(SIZE - 1).concat('\n'), 0, 'latin1');
    } finally {
      closeQuietly(fd);
    }
  } catch {
    // Truncation of the journal may stay undetected.
  }
}

/** Reads a mark. Returns undefined if there is none; an unreadable one says only that there was a journal. */
export function readMark(journal: string): Marked | undefined {
  try {
    return parseMark(readFileSync(markPath(journal), 'latin1'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Parses a mark; an invalid one counts as generation 0 and size 0. */
export function parseMark(text: string): Marked {
  return wholeMark(text) ?? { generation: 0, size: 0 };
}

/** Parses a mark. Returns undefined if its checksum does not match. */
export function wholeMark(text: string): Marked | undefined {
  const match = /^((\d+) (\d+)) (\d+) *\n$/.exec(text);
  if (match === null || crc32(match[1]!) !== Number(match[4])) return undefined;
  return { generation: Number(match[2]), size: Number(match[3]) };
}

/** Compares a journal with its mark. Returns a sentence that describes the loss, or undefined if nothing was lost. */
export function markedLoss(marked: Marked | undefined, found: Marked | undefined): string | undefined {
  if (marked === undefined) return undefined;
  if (found === undefined) return 'its journal is missing or empty';
  if (found.generation < marked.generation) return 'its journal is an older one than it had';
  if (found.generation === marked.generation && found.size < marked.size) {
    return `its journal has ${found.size} bytes, and had ${marked.size}`;
  }
  return undefined;
}

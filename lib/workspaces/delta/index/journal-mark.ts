import { constants, openSync, readFileSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { closeQuietly } from '../../../linux/close.ts';

const SIZE = 64;
const { O_RDWR, O_CREAT } = constants;

/** What is known to be on the disk of a journal. */
export interface Marked {
  /** Which of the journals that took each other's place; see `Header`. */
  generation: number;
  /** Bytes that were synced. */
  size: number;
}

/** Beside each journal from its first line on, so that a journal that is lost or cut is not taken for a new one. */
export function markPath(journal: string): string {
  return `${journal}.mark`;
}

/**
 * Written after what it tells of is synced, and never synced itself: a power failure leaves one that tells of less. Best
 * effort: a full disk may refuse it.
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
    // The journal is less well guarded.
  }
}

/** undefined: there is none. One that cannot be read tells that there was a journal, and nothing of it. */
export function readMark(journal: string): Marked | undefined {
  try {
    return parseMark(readFileSync(markPath(journal), 'latin1'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function parseMark(text: string): Marked {
  return wholeMark(text) ?? { generation: 0, size: 0 };
}

/** undefined: it does not match its checksum. */
export function wholeMark(text: string): Marked | undefined {
  const match = /^((\d+) (\d+)) (\d+) *\n$/.exec(text);
  if (match === null || crc32(match[1]!) !== Number(match[4])) return undefined;
  return { generation: Number(match[2]), size: Number(match[3]) };
}

/** What is wrong with a journal of which this was marked; undefined: nothing. */
export function markedLoss(marked: Marked | undefined, found: Marked | undefined): string | undefined {
  if (marked === undefined) return undefined;
  if (found === undefined) return 'its journal is missing or empty';
  if (found.generation < marked.generation) return 'its journal is an older one than it had';
  if (found.generation === marked.generation && found.size < marked.size) {
    return `its journal has ${found.size} bytes, and had ${marked.size}`;
  }
  return undefined;
}

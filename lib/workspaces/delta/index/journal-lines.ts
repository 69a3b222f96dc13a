import { crc32 } from 'node:zlib';
import type { Steps } from '../../../fuse/connection/steps.ts';
import { Damage } from '../damage.ts';
import { FORMAT } from './records.ts';

/**
 * A line is a JSON array. Sealed (from version 4 on) it begins with the CRC-32 of the rest of its text, which goes on from
 * the sum of the line before: a line that was changed, lost or moved is found.
 */
export interface Lines {
  records: unknown[][];
  sealed: boolean;
  /** Of the last line, for the next one. */
  sum: number;
}

export function sealedLine(record: readonly unknown[], before: number): { line: string; sum: number } {
  const rest = JSON.stringify(record).slice(1);
  const sum = crc32(rest, before);
  return { line: `[${sum},${rest}\n`, sum };
}

/** Elements of a record that are made text in one step. */
const AT_ONCE = 64;

/** The text of `sealedLine`, in parts. */
export function* lineInParts(record: readonly unknown[], before: number): Steps<{ parts: string[]; sum: number }> {
  const parts = [''];
  let sum = before;
  for (let start = 0; start < record.length; start += AT_ONCE) {
    const text = JSON.stringify(record.slice(start, start + AT_ONCE)).slice(1, -1);
    const part = start + AT_ONCE < record.length ? `${text},` : `${text}]`;
    sum = crc32(part, sum);
    parts.push(part);
    yield;
  }
  parts[0] = `[${sum},`;
  parts.push('\n');
  return { parts, sum };
}

export function plainLine(record: readonly unknown[]): string {
  return `${JSON.stringify(record)}\n`;
}

/** Of a file's whole lines; what the first one is tells of all. Throws Damage, naming the line. */
export function readLines(text: string): Lines {
  return readMore(text, { sealed: !text.startsWith(`["${FORMAT}",`), sum: 0 });
}

/** Of lines that go on from others; `linesBefore`: so many of the same file. */
export function readMore(text: string, { sealed, sum }: Pick<Lines, 'sealed' | 'sum'>, linesBefore = 0): Lines {
  const last = sealed ? checkSums(text, sum, linesBefore) : 0;
  const records = parse(text);
  if (sealed) for (const record of records) record.shift();
  return { records, sealed, sum: last };
}

function checkSums(text: string, before: number, linesBefore: number): number {
  let sum = before;
  let number = linesBefore + 1;
  for (let start = 0; start < text.length; number++) {
    const end = text.indexOf('\n', start);
    const comma = text.indexOf(',', start);
    const told = Number(text.slice(start + 1, comma));
    sum = crc32(text.slice(comma + 1, end), sum);
    if (text[start] !== '[' || comma === -1 || comma > end || told !== sum) {
      throw new Damage(`line ${number} does not match its checksum`);
    }
    start = end + 1;
  }
  return sum;
}

/** Only between the lines: JSON escapes line ends. One array is parsed in half the time of its lines. */
function parse(text: string): unknown[][] {
  try {
    return JSON.parse(`[${text.slice(0, -1).replaceAll('\n', ',')}]`) as unknown[][];
  } catch {
    throw new Damage('a line is no JSON');
  }
}

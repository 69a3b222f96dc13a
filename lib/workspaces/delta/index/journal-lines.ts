import { crc32 } from 'node:zlib';
import type { Steps } from '../../../fuse/connection/steps.ts';
import type { Listed } from '../../divided-list.ts';
import { Damage } from '../damage.ts';
import { FORMAT } from './header.ts';
import { OperationParser } from './operation-parser.ts';

/**
 * Parsed lines of a journal. A line is a JSON array. From version 4 on it begins with a CRC-32 of the rest of its text,
 * seeded with the checksum of the line before: a changed, lost or moved line is detected. Such a journal is called
 * sealed.
 */
export interface Lines {
  records: unknown[][];
  sealed: boolean;
  /** Checksum of the last line, which seeds that of the next one. */
  sum: number;
}

/** Encodes a record as a line with a checksum; `before` is the checksum of the line before. */
export function sealedLine(record: readonly unknown[], before: number): { line: string; sum: number } {
  const rest = JSON.stringify(record).slice(1);
  const sum = crc32(rest, before);
  return { line: `[${sum},${rest}\n`, sum };
}

/** Elements of a record encoded in one step. */
const ITEMS_PER_STEP = 64;

/** As `sealedLine`, in steps and in parts. */
export function* lineInParts(record: Listed<unknown>, before: number): Steps<{ parts: string[]; sum: number }> {
  const parts = [''];
  let sum = before;
  let left = record.length;
  let items: unknown[] = [];
  for (const item of record) {
    items.push(item);
    if (--left > 0 && items.length < ITEMS_PER_STEP) continue;
    const text = JSON.stringify(items).slice(1, -1);
    const part = left > 0 ? `${text},` : `${text}]`;
    sum = crc32(part, sum);
    parts.push(part);
    items = [];
    yield;
  }
  parts[0] = `[${sum},`;
  parts.push('\n');
  return { parts, sum };
}

/** Encodes a record as a line without a checksum. */
export function plainLine(record: readonly unknown[]): string {
  return `${JSON.stringify(record)}\n`;
}

/**
 * Parses the complete lines of a file; the first line decides whether they are sealed. Throws Damage with the number of
 * the line.
 */
export function readLines(text: string): Lines {
  return readMore(text, { sealed: !text.startsWith(`["${FORMAT}",`), sum: 0 });
}

/** Parses further lines of the same file, after `linesBefore` others. `parser`: of the file. */
export function readMore(
  text: string,
  { sealed, sum }: Pick<Lines, 'sealed' | 'sum'>,
  linesBefore = 0,
  parser = new OperationParser(),
): Lines {
  const last = sealed ? checkSums(text, sum, linesBefore) : 0;
  const records = parse(text, parser);
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

/** An empty record with a checksum, which earlier servers wrote for the import of an archive without new names. */
const EMPTY_RECORD = /^\[(\d+),\]$/gm;

function parse(text: string, parser: OperationParser): unknown[][] {
  const records = parseLines(text, parser) ?? parseLines(text.replaceAll(EMPTY_RECORD, '[$1]'), parser);
  if (records === undefined) throw new Damage('a line is not valid JSON');
  return records;
}

/**
 * JSON escapes line ends in strings, so every line end separates records. Parsing one array takes half the time of
 * parsing each line.
 */
function parseLines(text: string, parser: OperationParser): unknown[][] | undefined {
  try {
    return parser.parse<unknown[]>(`[${text.slice(0, -1).replaceAll('\n', ',')}]`, (record) => record);
  } catch {
    return undefined;
  }
}

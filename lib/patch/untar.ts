import { type ByteString, fromBuffer, joinPath, NO_BYTES, quote } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import type { Time } from '../linux/time.ts';
import { ByteReader } from './byte-reader.ts';

/** One member of an archive; its path is exactly as in the archive. */
export interface Entry {
  path: ByteString;
  type: 'file' | 'directory' | 'symlink' | 'link';
  /** Permission bits. */
  mode: number;
  mtime: Time;
  /** Bytes of a file's content. */
  size: number;
  /** Target of a symlink or hard link. */
  target: ByteString;
  /** To be consumed at most once, before the next entry is requested; unread content is skipped. */
  content: AsyncIterable<Uint8Array>;
}

const BLOCK = 512;
/** Maximum bytes of an extended header or long name: far above any path. */
const MAX_RECORD = 64 * 1024;
/** Writers pad archives to complete records. */
const MAX_PADDING = 1 << 20;

const TYPES: Readonly<Record<string, Entry['type']>> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '1': 'link',
  '2': 'symlink',
  '5': 'directory',
};
const UNWANTED: Readonly<Record<string, string>> = {
  '3': 'a character device',
  '4': 'a block device',
  '6': 'a FIFO',
  S: 'a sparse file',
};

/** Fields of extended headers, which apply to the following member. */
interface ExtendedFields {
  path?: ByteString;
  linkpath?: ByteString;
  size?: number;
  mtime?: Time;
}

/**
 * Yields the members of a POSIX (ustar, pax) or GNU archive. Throws INVALID_ARGUMENT for data that is not an archive,
 * is truncated, or contains types other than files, directories and links.
 */
export async function* untar(source: AsyncIterable<Uint8Array>): AsyncGenerator<Entry, void, void> {
  const reader = new ByteReader(source);
  try {
    let fields: ExtendedFields = {};
    for (;;) {
      const header = await reader.take(BLOCK);
      if (header === undefined) throw invalid('it is truncated');
      if (header.every((byte) => byte === 0)) break;
      checkHeader(header);
      const type = header.toString('latin1', 156, 157);
      const size = fields.size ?? number(header, 124, 12, 'size');
      if ('xgLK'.includes(type)) {
        const record = await wholeRecord(reader, number(header, 124, 12, 'size'));
        if (type === 'x') fields = { ...fields, ...paxRecords(record) };
        if (type === 'L') fields.path = untilNul(record);
        if (type === 'K') fields.linkpath = untilNul(record);
        continue;
      }
      const entry = entryOf(header, type, size, fields);
      fields = {};
      const rest = { left: entry.size };
      yield { ...entry, content: contentOf(reader, rest) };
      await reader.skip(rest.left);
      await reader.skip((BLOCK - (entry.size % BLOCK)) % BLOCK);
    }
    await reader.drain(MAX_PADDING);
  } finally {
    await reader.close();
  }
}

async function* contentOf(reader: ByteReader, rest: { left: number }): AsyncGenerator<Uint8Array, void, void> {
  while (rest.left > 0) {
    const chunk = await reader.next(rest.left);
    if (chunk === undefined) throw invalid('it is truncated');
    rest.left -= chunk.length;
    yield chunk;
  }
}

function entryOf(header: Buffer, type: string, size: number, fields: ExtendedFields): Omit<Entry, 'content'> {
  const path = fields.path ?? ownPath(header);
  const named = TYPES[type];
  if (named === undefined) {
    throw invalid(`${quote(path)} is ${UNWANTED[type] ?? 'of an unknown type'}, which is not supported`);
  }
  const kind = named === 'file' && path.endsWith('/') ? 'directory' : named;
  const mtime = fields.mtime ?? { sec: number(header, 136, 12, 'mtime'), nsec: 0 };
  return {
    path,
    type: kind,
    mode: number(header, 100, 8, 'mode') & 0o777,
    mtime,
    size: kind === 'file' ? size : 0,
    target: fields.linkpath ?? untilNul(header.subarray(157, 257)),
  };
}

function ownPath(header: Buffer): ByteString {
  const name = untilNul(header.subarray(0, 100));
  const isPosix = header.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isPosix ? untilNul(header.subarray(345, 500)) : NO_BYTES;
  return joinPath(prefix, name);
}

function checkHeader(header: Buffer): void {
  if (header[0] === 0x1f && header[1] === 0x8b) throw invalid('it is compressed; send it uncompressed');
  let sum = 0;
  for (const [index, byte] of header.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte;
  if (number(header, 148, 8, 'checksum') !== sum) throw invalid('a header has an invalid checksum');
}

/** Octal, or GNU's base-256 encoding for larger numbers. */
function number(header: Buffer, at: number, length: number, what: string): number {
  const field = header.subarray(at, at + length);
  let value = 0;
  if ((field[0]! & 0x80) !== 0) {
    for (const [index, byte] of field.entries()) value = value * 256 + (index === 0 ? byte & 0x7f : byte);
  } else {
    const text = untilNul(field).trim();
    if (!/^[0-7]*$/.test(text)) throw invalid(`a header has an invalid ${what}`);
    value = text === '' ? 0 : Number.parseInt(text, 8);
  }
  if (!Number.isSafeInteger(value)) throw invalid(`a header has an invalid ${what}`);
  return value;
}

async function wholeRecord(reader: ByteReader, size: number): Promise<Buffer> {
  if (size > MAX_RECORD) throw invalid(`a record has more than ${MAX_RECORD} bytes`);
  const blocks = Math.ceil(size / BLOCK) * BLOCK;
  const record = await reader.take(blocks);
  if (record === undefined) throw invalid('it is truncated');
  return record.subarray(0, size);
}

/** A sequence of `<length> <key>=<value>`, each with a newline. */
function paxRecords(record: Buffer): ExtendedFields {
  const fields: ExtendedFields = {};
  for (let at = 0; at < record.length; ) {
    const space = record.indexOf(0x20, at);
    const length = Number(record.toString('latin1', at, Math.max(at, space)));
    const equals = record.indexOf(0x3d, space);
    const end = at + length;
    const isWhole = space > at && Number.isInteger(length) && equals > space && equals < end && end <= record.length;
    if (!isWhole || record[end - 1] !== 0x0a) throw invalid('a record is malformed');
    const key = record.toString('latin1', space + 1, equals);
    const value = fromBuffer(record, equals + 1, end - 1);
    if (key.startsWith('GNU.sparse.')) throw invalid('it contains a sparse file, which is not supported');
    if (key === 'path') fields.path = value;
    if (key === 'linkpath') fields.linkpath = value;
    if (key === 'size') fields.size = decimal(value, 'size');
    if (key === 'mtime') fields.mtime = timeOf(value);
    at = end;
  }
  return fields;
}

function decimal(text: string, what: string): number {
  const value = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value)) throw invalid(`a record has an invalid ${what}`);
  return value;
}

/** Seconds with a fraction, possibly before 1970; a time outside of Linux's range is ignored. */
function timeOf(text: string): Time {
  const value = Number(text);
  if (!/^-?\d{1,12}(\.\d*)?$/.test(text) || !Number.isFinite(value)) throw invalid('a record has an invalid mtime');
  const sec = Math.floor(value);
  const fraction = text.startsWith('-') ? '' : (text.split('.')[1] ?? '');
  return { sec, nsec: Number(fraction.slice(0, 9).padEnd(9, '0')) };
}

function untilNul(bytes: Buffer): ByteString {
  const end = bytes.indexOf(0);
  return fromBuffer(bytes, 0, end === -1 ? bytes.length : end);
}

export function invalid(what: string): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', `the archive cannot be imported: ${what}`);
}

import type { ByteString } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import type { Time } from '../linux/time.ts';
import { ByteReader } from './byte-reader.ts';

/** One member of an archive, its path as it stands there. */
export interface Entry {
  path: ByteString;
  type: 'file' | 'directory' | 'symlink' | 'link';
  /** Permission bits. */
  mode: number;
  mtime: Time;
  /** Of a file's content. */
  size: number;
  /** Symlink, link. */
  target: ByteString;
  /** Once, and before the next entry is asked for; what is not taken is skipped. */
  content: AsyncIterable<Uint8Array>;
}

const BLOCK = 512;
/** A record or long name may be so long: far above any path. */
const MAX_RECORD = 64 * 1024;
/** Writers fill up to whole records. */
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

/** What records before a header say of the member after it. */
interface Said {
  path?: ByteString;
  linkpath?: ByteString;
  size?: number;
  mtime?: Time;
}

/**
 * The members of a POSIX (ustar, pax) or GNU archive. Throws INVALID_ARGUMENT for what is none, is cut short, or holds
 * something else than files, directories and links.
 */
export async function* untar(source: AsyncIterable<Uint8Array>): AsyncGenerator<Entry, void, void> {
  const reader = new ByteReader(source);
  try {
    let said: Said = {};
    for (;;) {
      const header = await reader.take(BLOCK);
      if (header === undefined) throw invalid('it is cut short');
      if (header.every((byte) => byte === 0)) break;
      checkHeader(header);
      const type = header.toString('latin1', 156, 157);
      const size = said.size ?? number(header, 124, 12, 'size');
      if ('xgLK'.includes(type)) {
        const record = await wholeRecord(reader, number(header, 124, 12, 'size'));
        if (type === 'x') said = { ...said, ...paxRecords(record) };
        if (type === 'L') said.path = untilNul(record);
        if (type === 'K') said.linkpath = untilNul(record);
        continue;
      }
      const entry = entryOf(header, type, size, said);
      said = {};
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
    if (chunk === undefined) throw invalid('it is cut short');
    rest.left -= chunk.length;
    yield chunk;
  }
}

function entryOf(header: Buffer, type: string, size: number, said: Said): Omit<Entry, 'content'> {
  const path = said.path ?? ownPath(header);
  const named = TYPES[type];
  if (named === undefined) {
    throw invalid(`${shown(path)} is ${UNWANTED[type] ?? 'of a kind that is not known'}, which is not taken`);
  }
  const kind = named === 'file' && path.endsWith('/') ? 'directory' : named;
  const mtime = said.mtime ?? { sec: number(header, 136, 12, 'mtime'), nsec: 0 };
  return {
    path,
    type: kind,
    mode: number(header, 100, 8, 'mode') & 0o777,
    mtime,
    size: kind === 'file' ? size : 0,
    target: said.linkpath ?? untilNul(header.subarray(157, 257)),
  };
}

function ownPath(header: Buffer): ByteString {
  const name = untilNul(header.subarray(0, 100));
  const isPosix = header.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isPosix ? untilNul(header.subarray(345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

function checkHeader(header: Buffer): void {
  if (header[0] === 0x1f && header[1] === 0x8b) throw invalid('it is compressed; send it uncompressed');
  let sum = 0;
  for (const [index, byte] of header.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte;
  if (number(header, 148, 8, 'checksum') !== sum) throw invalid('a header has a wrong checksum');
}

/** Octal, or as GNU writes what does not fit. */
function number(header: Buffer, at: number, length: number, what: string): number {
  const field = header.subarray(at, at + length);
  let value = 0;
  if ((field[0]! & 0x80) !== 0) {
    for (const [index, byte] of field.entries()) value = value * 256 + (index === 0 ? byte & 0x7f : byte);
  } else {
    const text = untilNul(field).trim();
    if (!/^[0-7]*$/.test(text)) throw invalid(`a header has a wrong ${what}`);
    value = text === '' ? 0 : Number.parseInt(text, 8);
  }
  if (!Number.isSafeInteger(value)) throw invalid(`a header has a wrong ${what}`);
  return value;
}

async function wholeRecord(reader: ByteReader, size: number): Promise<Buffer> {
  if (size > MAX_RECORD) throw invalid(`a record has more than ${MAX_RECORD} bytes`);
  const blocks = Math.ceil(size / BLOCK) * BLOCK;
  const record = await reader.take(blocks);
  if (record === undefined) throw invalid('it is cut short');
  return record.subarray(0, size);
}

/** `<length> <key>=<value>\n`, one after the other. */
function paxRecords(record: Buffer): Said {
  const said: Said = {};
  for (let at = 0; at < record.length; ) {
    const space = record.indexOf(0x20, at);
    const length = Number(record.toString('latin1', at, Math.max(at, space)));
    const equals = record.indexOf(0x3d, space);
    const end = at + length;
    const isWhole = space > at && Number.isInteger(length) && equals > space && equals < end && end <= record.length;
    if (!isWhole || record[end - 1] !== 0x0a) throw invalid('a record is not well formed');
    const key = record.toString('latin1', space + 1, equals);
    const value = record.toString('latin1', equals + 1, end - 1);
    if (key.startsWith('GNU.sparse.')) throw invalid('a sparse file is in it, which is not taken');
    if (key === 'path') said.path = value;
    if (key === 'linkpath') said.linkpath = value;
    if (key === 'size') said.size = decimal(value, 'size');
    if (key === 'mtime') said.mtime = timeOf(value);
    at = end;
  }
  return said;
}

function decimal(text: string, what: string): number {
  const value = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value)) throw invalid(`a record has a wrong ${what}`);
  return value;
}

/** Seconds with a fraction, also before 1970; a time that Linux has no number for is none. */
function timeOf(text: string): Time {
  const value = Number(text);
  if (!/^-?\d{1,12}(\.\d*)?$/.test(text) || !Number.isFinite(value)) throw invalid('a record has a wrong mtime');
  const sec = Math.floor(value);
  const fraction = text.startsWith('-') ? '' : (text.split('.')[1] ?? '');
  return { sec, nsec: Number(fraction.slice(0, 9).padEnd(9, '0')) };
}

function untilNul(bytes: Buffer): ByteString {
  const end = bytes.indexOf(0);
  return bytes.toString('latin1', 0, end === -1 ? bytes.length : end);
}

function shown(path: ByteString): string {
  return JSON.stringify(Buffer.from(path, 'latin1').toString().slice(0, 200));
}

export function invalid(what: string): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', `the archive cannot be taken: ${what}`);
}

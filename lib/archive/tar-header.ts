import { type ByteString, fromBuffer, joinPath, NO_BYTES, quote } from '../byte-string.ts';
import type { Time } from '../linux/time.ts';
import { invalidArchive } from './invalid-archive.ts';

/** One member of an archive; its path is exactly as in the archive. */
export interface Entry {
  path: ByteString;
  type: 'file' | 'directory' | 'symlink' | 'link';
  /** Permission bits. */
  mode: number;
  mtime: Time;
  /** Bytes of a file's content; 0 for other types. */
  size: number;
  /** Target of a symlink or hard link. */
  target: ByteString;
}

/** Fields of extended headers and long names, which apply to the following member. */
export interface ExtendedFields {
  path?: ByteString;
  linkpath?: ByteString;
  size?: number;
  mtime?: Time;
}

/** Bytes of a header, and the unit that contents are padded to. */
export const BLOCK = 512;

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

const CHECKSUM = { at: 148, length: 8 };
const SPACE = 0x20;
/** Sign bit of a number in base 256. */
const SIGN = 0x40;
/** The largest time that is accepted, as in pax records. */
const MAX_SECONDS = 999_999_999_999;

/** Whether the block is one of those that end an archive. */
export function isEnd(header: Buffer): boolean {
  for (let at = 0; at < BLOCK; at++) if (header[at] !== 0) return false;
  return true;
}

/** Throws INVALID_ARGUMENT if the block is no header. */
export function checkHeader(header: Buffer): void {
  let sum = CHECKSUM.length * SPACE;
  for (let at = 0; at < CHECKSUM.at; at++) sum += header[at]!;
  for (let at = CHECKSUM.at + CHECKSUM.length; at < BLOCK; at++) sum += header[at]!;
  if (numberAt(header, CHECKSUM.at, CHECKSUM.length, 'checksum') !== sum)
    throw invalidArchive('a header has an invalid checksum');
}

/** The type flag of a header. */
export function typeOf(header: Buffer): string {
  return String.fromCharCode(header[156]!);
}

/** The size in a header: bytes of a file, or of a record. */
export function sizeOf(header: Buffer): number {
  return numberAt(header, 124, 12, 'size');
}

/** The member of a header. Throws INVALID_ARGUMENT for types other than files, directories and links. */
export function entryOf(header: Buffer, fields: ExtendedFields): Entry {
  const path = fields.path ?? ownPath(header);
  const type = typeOf(header);
  const named = TYPES[type];
  if (named === undefined) {
    throw invalidArchive(`${quote(path)} is ${UNWANTED[type] ?? 'of an unknown type'}, which is not supported`);
  }
  const kind = named === 'file' && path.endsWith('/') ? 'directory' : named;
  return {
    path,
    type: kind,
    mode: numberAt(header, 100, 8, 'mode') & 0o777,
    mtime: fields.mtime ?? { sec: numberAt(header, 136, 12, 'mtime'), nsec: 0 },
    size: kind === 'file' ? (fields.size ?? sizeOf(header)) : 0,
    target: kind === 'symlink' || kind === 'link' ? (fields.linkpath ?? textAt(header, 157, 100)) : NO_BYTES,
  };
}

function ownPath(header: Buffer): ByteString {
  const name = textAt(header, 0, 100);
  const isPosix = header.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isPosix ? textAt(header, 345, 155) : NO_BYTES;
  return joinPath(prefix, name);
}

/** Octal, or GNU's base-256 encoding in two's complement for larger numbers, and for times before 1970. */
function numberAt(header: Buffer, at: number, length: number, what: string): number {
  let value = 0;
  if ((header[at]! & 0x80) !== 0) {
    // The bits after the first one are the number's.
    value = ((header[at]! & 0x7f) ^ SIGN) - SIGN;
    for (let index = 1; index < length; index++) value = value * 256 + header[at + index]!;
  } else {
    const text = textAt(header, at, length).trim();
    if (!/^[0-7]*$/.test(text)) throw invalidArchive(`a header has an invalid ${what}`);
    value = text === '' ? 0 : Number.parseInt(text, 8);
  }
  const [least, most] = what === 'mtime' ? [-MAX_SECONDS, MAX_SECONDS] : [0, Number.MAX_SAFE_INTEGER];
  if (!(value >= least && value <= most)) throw invalidArchive(`a header has an invalid ${what}`);
  return value;
}

/** The text up to the first NUL. */
export function textAt(bytes: Buffer, at: number, length: number): ByteString {
  const nul = bytes.indexOf(0, at);
  return fromBuffer(bytes, at, nul === -1 || nul > at + length ? at + length : nul);
}

import { type ByteString, fromBuffer } from '../../byte-string.ts';
import { EFBIG, EIO, ENAMETOOLONG } from '../../linux/errno.ts';
import type { Time } from '../../linux/time.ts';
import { MAX_NAME_BYTES } from '../../path-limits.ts';
import type { SetAttr } from '../filesystem.ts';
import { readS64, readU64 } from './integers.ts';
import { IN_HEADER_SIZE, Opcode } from './opcodes.ts';

/** Fields of fuse_in_header. `unique` is not decoded: replies copy it as bytes. */
export const readLength = (request: Buffer): number => request.readUInt32LE(0);
export const readOpcode = (request: Buffer): number => request.readUInt32LE(4);
export const readNodeid = (request: Buffer): number => readU64(request, 16);
export const readUid = (request: Buffer): number => request.readUInt32LE(24);
export const readGid = (request: Buffer): number => request.readUInt32LE(28);
export const readPid = (request: Buffer): number => request.readUInt32LE(32);
export const readUnique = (request: Buffer): number => readU64(request, 8);

/** A field of the struct that follows the header; `offset` in bytes from the start of that struct. */
export const readArgU32 = (request: Buffer, offset: number): number => request.readUInt32LE(IN_HEADER_SIZE + offset);
export const readArgU64 = (request: Buffer, offset: number): number => readU64(request, IN_HEADER_SIZE + offset);

/** The request that an INTERRUPT is about; undefined: it is another request. */
export function interruptedUnique(request: Buffer, length: number): number | undefined {
  const isInterrupt = length >= IN_HEADER_SIZE + 8 && readOpcode(request) === Opcode.INTERRUPT;
  return isInterrupt ? readArgU64(request, 0) : undefined;
}

/** A file size or offset in bytes. Throws EFBIG for 2^53 and more. */
export function readArgOffset(request: Buffer, offset: number): number {
  const value = readArgU64(request, offset);
  if (!Number.isSafeInteger(value)) throw EFBIG;
  return value;
}

/** Returns the index of the NUL that ends the string at `start`. Throws EIO if there is none within `length` bytes. */
export function findStringEnd(request: Buffer, start: number, length: number): number {
  const end = request.indexOf(0, start);
  if (end < 0 || end >= length) throw EIO;
  return end;
}

/**
 * Decodes one path component. Throws ENAMETOOLONG for more than MAX_NAME_BYTES bytes (the kernel allows 1024, from 6.15 4095)
 * and EIO for a name that no directory entry can have.
 */
export function readName(request: Buffer, start: number, end: number): ByteString {
  if (end - start > MAX_NAME_BYTES) throw ENAMETOOLONG;
  const name = fromBuffer(request, start, end);
  if (name === '' || name === '.' || name === '..' || name.includes('/')) throw EIO;
  return name;
}

const FATTR_MODE = 1 << 0;
const FATTR_UID = 1 << 1;
const FATTR_GID = 1 << 2;
const FATTR_SIZE = 1 << 3;
const FATTR_ATIME = 1 << 4;
const FATTR_MTIME = 1 << 5;
const FATTR_ATIME_NOW = 1 << 7;
const FATTR_MTIME_NOW = 1 << 8;
const FATTR_KILL_SUIDGID = 1 << 11;

/**
 * Decodes fuse_setattr_in. Ignores FH and LOCKOWNER (there are no file handles) and CTIME (the file system sets it).
 * Throws EFBIG as `readArgOffset`.
 */
export function decodeSetattr(request: Buffer): SetAttr {
  const valid = readArgU32(request, 0);
  const changes: SetAttr = {};
  if (valid & FATTR_MODE) changes.mode = readArgU32(request, 68);
  if (valid & FATTR_UID) changes.uid = readArgU32(request, 76);
  if (valid & FATTR_GID) changes.gid = readArgU32(request, 80);
  if (valid & FATTR_SIZE) changes.size = readArgOffset(request, 16);
  if (valid & FATTR_ATIME_NOW) changes.atime = 'now';
  else if (valid & FATTR_ATIME) changes.atime = decodeTime(request, 32, 56);
  if (valid & FATTR_MTIME_NOW) changes.mtime = 'now';
  else if (valid & FATTR_MTIME) changes.mtime = decodeTime(request, 40, 60);
  if (valid & FATTR_KILL_SUIDGID) changes.killSuidgid = true;
  return changes;
}

function decodeTime(request: Buffer, seconds: number, nanoseconds: number): Time {
  return { sec: readS64(request, IN_HEADER_SIZE + seconds), nsec: readArgU32(request, nanoseconds) };
}

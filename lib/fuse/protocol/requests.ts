import type { ByteString } from '../../byte-string.ts';
import { EFBIG, EIO, ENAMETOOLONG } from '../../linux/errno.ts';
import type { Time } from '../../linux/time.ts';
import type { SetAttr } from '../filesystem.ts';
import { readS64, readU64 } from './integers.ts';
import { IN_HEADER_SIZE, NAME_MAX } from './opcodes.ts';

/** Fields of fuse_in_header. `unique` is never computed with: it is copied as bytes. */
export const readLength = (request: Buffer): number => request.readUInt32LE(0);
export const readOpcode = (request: Buffer): number => request.readUInt32LE(4);
export const readNodeid = (request: Buffer): number => readU64(request, 16);
export const readUid = (request: Buffer): number => request.readUInt32LE(24);
export const readGid = (request: Buffer): number => request.readUInt32LE(28);
export const readPid = (request: Buffer): number => request.readUInt32LE(32);

/** A field of the operation's own struct, which follows the header. */
export const readArgU32 = (request: Buffer, offset: number): number => request.readUInt32LE(IN_HEADER_SIZE + offset);
export const readArgU64 = (request: Buffer, offset: number): number => readU64(request, IN_HEADER_SIZE + offset);

/** A size or position in a file. Files of 2^53 bytes and more are not served. */
export function readArgOffset(request: Buffer, offset: number): number {
  const value = readArgU64(request, offset);
  if (!Number.isSafeInteger(value)) throw EFBIG;
  return value;
}

/** Where the NUL of the string at `start` is. */
export function findStringEnd(request: Buffer, start: number, length: number): number {
  const end = request.indexOf(0, start);
  if (end < 0 || end >= length) throw EIO;
  return end;
}

/** One component. The kernel itself allows up to 1024 bytes, or 4095 from 6.15. */
export function readName(request: Buffer, start: number, end: number): ByteString {
  if (end - start > NAME_MAX) throw ENAMETOOLONG;
  const name = request.toString('latin1', start, end);
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

/** fuse_setattr_in. Not taken: FH and LOCKOWNER (there are no handles), CTIME (it is the file system's to set). */
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

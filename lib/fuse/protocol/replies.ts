import type { ByteString } from '../../byte-string.ts';
import type { Attr, Entry, StatFs } from '../filesystem.ts';
import { writeU32, writeU64 } from './integers.ts';
import {
  ATTR_OUT_SIZE,
  DIRENT_SIZE,
  ENTRY_OUT_SIZE,
  OPEN_OUT_SIZE,
  STATFS_OUT_SIZE,
  WRITE_OUT_SIZE,
} from './opcodes.ts';

/** How long the kernel may use its caches, in seconds. Every earlier change is invalidated by a notification. */
const CACHE_SECONDS = 86_400;
const BLOCK_SIZE = 4096;
const FOPEN_KEEP_CACHE = 1 << 1;

/**
 * Encodes fuse_out_header. `length` counts the header, too; `error` is 0 or a negative errno; `unique` is copied from
 * `request`.
 */
export function encodeHeader(into: Buffer, length: number, error: number, request: Buffer): void {
  writeU32(into, length, 0);
  writeU32(into, error, 4);
  writeU32(into, request.readUInt32LE(8), 8);
  writeU32(into, request.readUInt32LE(12), 12);
}

/** fuse_attr */
function encodeAttr(into: Buffer, offset: number, attr: Attr): void {
  writeU64(into, attr.ino, offset);
  writeU64(into, attr.size, offset + 8);
  writeU64(into, attr.blocks, offset + 16);
  writeU64(into, attr.atime.sec, offset + 24);
  writeU64(into, attr.mtime.sec, offset + 32);
  writeU64(into, attr.ctime.sec, offset + 40);
  writeU32(into, attr.atime.nsec, offset + 48);
  writeU32(into, attr.mtime.nsec, offset + 52);
  writeU32(into, attr.ctime.nsec, offset + 56);
  writeU32(into, attr.mode, offset + 60);
  writeU32(into, attr.nlink, offset + 64);
  writeU32(into, attr.uid, offset + 68);
  writeU32(into, attr.gid, offset + 72);
  writeU32(into, attr.rdev, offset + 76);
  writeU32(into, BLOCK_SIZE, offset + 80);
  writeU32(into, 0, offset + 84);
}

/**
 * Encodes fuse_entry_out and returns its size in bytes. Node ids are never reused, so the generation is always 0.
 * `seconds`: how long the kernel may cache the name.
 */
export function encodeEntry(into: Buffer, offset: number, entry: Entry, seconds = CACHE_SECONDS): number {
  encodeEntryHead(into, offset, entry.nodeid, seconds);
  encodeAttr(into, offset + 40, entry.attr);
  return ENTRY_OUT_SIZE;
}

/** Encodes a negative lookup (node id 0), which the kernel may cache as long as an entry. Returns its size in bytes. */
export function encodeNegativeEntry(into: Buffer, offset: number): number {
  into.fill(0, offset + 40, offset + ENTRY_OUT_SIZE);
  encodeEntryHead(into, offset, 0, CACHE_SECONDS);
  return ENTRY_OUT_SIZE;
}

function encodeEntryHead(into: Buffer, offset: number, nodeid: number, seconds: number): void {
  writeU64(into, nodeid, offset);
  writeU64(into, 0, offset + 8);
  writeU64(into, seconds, offset + 16);
  writeU64(into, CACHE_SECONDS, offset + 24);
  writeU64(into, 0, offset + 32);
}

/** Encodes fuse_attr_out and returns its size in bytes. */
export function encodeAttrOut(into: Buffer, offset: number, attr: Attr): number {
  writeU64(into, CACHE_SECONDS, offset);
  writeU64(into, 0, offset + 8);
  encodeAttr(into, offset + 16, attr);
  return ATTR_OUT_SIZE;
}

/**
 * Encodes fuse_open_out and returns its size in bytes. The flags are those that the kernel assumes for an open that
 * sends no message.
 */
export function encodeOpen(into: Buffer, offset: number): number {
  writeU64(into, 0, offset);
  writeU64(into, FOPEN_KEEP_CACHE, offset + 8);
  return OPEN_OUT_SIZE;
}

/** Encodes fuse_write_out and returns its size in bytes. `size`: bytes written. */
export function encodeWrite(into: Buffer, offset: number, size: number): number {
  writeU64(into, size, offset);
  return WRITE_OUT_SIZE;
}

/** Encodes fuse_statfs_out and returns its size in bytes. */
export function encodeStatfs(into: Buffer, offset: number, statfs: StatFs): number {
  into.fill(0, offset, offset + STATFS_OUT_SIZE);
  writeU64(into, statfs.blocks, offset);
  writeU64(into, statfs.bfree, offset + 8);
  writeU64(into, statfs.bavail, offset + 16);
  writeU64(into, statfs.files, offset + 24);
  writeU64(into, statfs.ffree, offset + 32);
  writeU32(into, statfs.bsize, offset + 40);
  writeU32(into, statfs.namelen, offset + 44);
  writeU32(into, statfs.bsize, offset + 48);
  return STATFS_OUT_SIZE;
}

/** Size of a directory record in bytes: fuse_dirent, or fuse_direntplus with `plus`, padded to 8 bytes. */
export function direntSize(nameLength: number, plus: boolean): number {
  return (plus ? ENTRY_OUT_SIZE : 0) + ((DIRENT_SIZE + nameLength + 7) & ~7);
}

/** Encodes fuse_dirent at byte `offset`. `cookie`: where the listing continues after this record. */
export function encodeDirent(
  into: Buffer,
  offset: number,
  name: ByteString,
  cookie: number,
  ino: number,
  type: number,
): void {
  const end = offset + direntSize(name.length, false);
  writeU64(into, 0, end - 8);
  writeU64(into, ino, offset);
  writeU64(into, cookie, offset + 8);
  writeU32(into, name.length, offset + 16);
  writeU32(into, type, offset + 20);
  into.write(name, offset + DIRENT_SIZE, 'latin1');
}

/**
 * Encodes the fuse_entry_out at the start of a fuse_direntplus. Without an entry the node id is 0: no attributes are
 * given and no lookup is counted.
 */
export function encodeDirentEntry(into: Buffer, offset: number, entry: Entry | undefined): void {
  if (entry) encodeEntry(into, offset, entry);
  else into.fill(0, offset, offset + ENTRY_OUT_SIZE);
}

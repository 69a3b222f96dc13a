import type { ByteString } from '../../byte-string.ts';
import { writeU64 } from './integers.ts';
import { OUT_HEADER_SIZE } from './opcodes.ts';

const NOTIFY_INVAL_INODE = 2;
const NOTIFY_INVAL_ENTRY = 3;
const NOTIFY_RETRIEVE = 5;

/** FUSE_EXPIRE_ONLY, from 7.38. Before, the field was padding, and the kernel drops the entry instead. */
const EXPIRE_ONLY = 1 << 0;

/** Size of a FUSE_NOTIFY_INVAL_INODE message in bytes. */
export const INVAL_INODE_SIZE = OUT_HEADER_SIZE + 24;
const INVAL_ENTRY_SIZE = OUT_HEADER_SIZE + 16;
const RETRIEVE_SIZE = OUT_HEADER_SIZE + 32;

/** Size of a FUSE_NOTIFY_INVAL_ENTRY message in bytes. */
export const invalEntrySize = (name: ByteString): number => INVAL_ENTRY_SIZE + name.length + 1;

/** fuse_out_header of a notification: `unique` is 0, and the notification code takes the place of the error. */
function encodeHeader(into: Buffer, offset: number, length: number, code: number): void {
  into.writeUInt32LE(length, offset);
  into.writeInt32LE(code, offset + 4);
  writeU64(into, 0, offset + 8);
}

/** Encodes FUSE_NOTIFY_INVAL_INODE for the attributes and all cached pages of a node. Returns its size in bytes. */
export function encodeInvalInode(into: Buffer, offset: number, nodeid: number): number {
  return encodeInval(into, offset, nodeid, 0);
}

/**
 * Encodes FUSE_NOTIFY_INVAL_INODE for the attributes alone: a negative offset keeps the pages. Returns its size in
 * bytes.
 */
export function encodeInvalAttributes(into: Buffer, offset: number, nodeid: number): number {
  return encodeInval(into, offset, nodeid, -1);
}

function encodeInval(into: Buffer, offset: number, nodeid: number, from: number): number {
  encodeHeader(into, offset, INVAL_INODE_SIZE, NOTIFY_INVAL_INODE);
  writeU64(into, nodeid, offset + 16);
  writeU64(into, from, offset + 24);
  writeU64(into, 0, offset + 32);
  return INVAL_INODE_SIZE;
}

/**
 * Encodes FUSE_NOTIFY_INVAL_ENTRY and returns its size in bytes. With `expireOnly` the kernel looks the name up again
 * at its next use. Without, it drops the dentry and everything below it at once, and a process whose working directory
 * is below it gets ENOENT from getcwd(2) until a new lookup.
 */
export function encodeInvalEntry(
  into: Buffer,
  offset: number,
  parent: number,
  name: ByteString,
  expireOnly: boolean,
): number {
  const size = invalEntrySize(name);
  encodeHeader(into, offset, size, NOTIFY_INVAL_ENTRY);
  writeU64(into, parent, offset + 16);
  into.writeUInt32LE(name.length, offset + 24);
  into.writeUInt32LE(expireOnly ? EXPIRE_ONLY : 0, offset + 28);
  into.write(name, offset + 32, 'latin1');
  into.writeUInt8(0, offset + size - 1);
  return size;
}

/**
 * Encodes FUSE_NOTIFY_RETRIEVE of 0 bytes of a cached regular file. It serves as a wake-up: the kernel answers with a
 * NOTIFY_REPLY request that carries `unique`.
 */
export function encodeRetrieveNothing(nodeid: number, unique = 0): Buffer {
  const message = Buffer.alloc(RETRIEVE_SIZE);
  encodeHeader(message, 0, RETRIEVE_SIZE, NOTIFY_RETRIEVE);
  writeU64(message, unique, 16);
  writeU64(message, nodeid, 24);
  return message;
}

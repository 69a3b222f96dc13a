import { IN_HEADER_SIZE, INIT_OUT_SIZE } from './opcodes.ts';

/** FUSE_KERNEL_VERSION: the major version of the protocol. */
export const KERNEL_VERSION = 7;
/** Smallest minor version that is accepted. Linux 5.10, the oldest supported kernel, offers 7.32. */
export const MINIMUM_MINOR = 31;
const OUR_MINOR = 45;

const ASYNC_READ = 1 << 0;
const BIG_WRITES = 1 << 5;
const DO_READDIRPLUS = 1 << 13;
const PARALLEL_DIROPS = 1 << 18;
const ABORT_ERROR = 1 << 21;
const MAX_PAGES = 1 << 22;
const CACHE_SYMLINKS = 1 << 23;
const EXPLICIT_INVAL_DATA = 1 << 25;
const HANDLE_KILLPRIV_V2 = 1 << 28;
const INIT_EXT = 1 << 30;

/**
 * The flags to request of fuse_init_out. Left out on purpose:
 * - ATOMIC_O_TRUNC: combined with opens that send no message (ENOSYS to OPEN) the kernel loses O_TRUNC.
 * - ASYNC_DIO: one write(2) with O_DIRECT would send all its requests of MAX_WRITE bytes at once. Without it each thread of a
 *   program has one such request at a time.
 * - WRITEBACK_CACHE: it costs two SETATTR for each new file.
 * - POSIX_LOCKS and FLOCK_LOCKS: without them the kernel keeps locks itself, which is correct for a mount on one host.
 */
const WANTED =
  ASYNC_READ |
  BIG_WRITES |
  DO_READDIRPLUS |
  PARALLEL_DIROPS |
  ABORT_ERROR |
  MAX_PAGES |
  CACHE_SYMLINKS |
  EXPLICIT_INVAL_DATA |
  HANDLE_KILLPRIV_V2 |
  INIT_EXT;

/** Largest data of one READ, WRITE or READDIR, in bytes. */
export const MAX_WRITE = 1 << 20;
const MAX_PAGES_COUNT = 256;
/**
 * Limits of the read-ahead and write-back of all programs together. At the first, the kernel makes everyone wait, in order of
 * arrival, and at the second it reads nothing ahead. So they are beyond what one sandbox has in flight.
 */
const MAX_BACKGROUND = 65_535;
const CONGESTION_THRESHOLD = 65_535;
const TIME_GRANULARITY = 1;

/** struct fuse_init_in without `flags2`, which is not used. */
export interface InitIn {
  major: number;
  minor: number;
  maxReadahead: number;
  flags: number;
}

/** Decodes fuse_init_in. Kernels before 5.17 send only the fields up to `flags`. */
export function decodeInit(request: Buffer): InitIn {
  return {
    major: request.readUInt32LE(IN_HEADER_SIZE),
    minor: request.readUInt32LE(IN_HEADER_SIZE + 4),
    maxReadahead: request.readUInt32LE(IN_HEADER_SIZE + 8),
    flags: request.readUInt32LE(IN_HEADER_SIZE + 12),
  };
}

/**
 * Encodes fuse_init_out at byte `offset`, with those wanted flags that the kernel offered. Returns its size in bytes.
 */
export function encodeInit(into: Buffer, offset: number, offer: InitIn): number {
  into.fill(0, offset, offset + INIT_OUT_SIZE);
  into.writeUInt32LE(KERNEL_VERSION, offset);
  into.writeUInt32LE(Math.min(offer.minor, OUR_MINOR), offset + 4);
  into.writeUInt32LE(offer.maxReadahead, offset + 8);
  into.writeUInt32LE((offer.flags & WANTED) >>> 0, offset + 12);
  into.writeUInt16LE(MAX_BACKGROUND, offset + 16);
  into.writeUInt16LE(CONGESTION_THRESHOLD, offset + 18);
  into.writeUInt32LE(MAX_WRITE, offset + 20);
  into.writeUInt32LE(TIME_GRANULARITY, offset + 24);
  into.writeUInt16LE(MAX_PAGES_COUNT, offset + 28);
  return INIT_OUT_SIZE;
}

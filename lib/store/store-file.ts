import { randomBytes } from 'node:crypto';
import type { Disk } from '../disk/disk.ts';
import { errorCode } from '../linux/errno.ts';
import type { Seed } from '../trees/directory/name-hash.ts';
import { FormatError } from '../trees/format/format-error.ts';

const FORMAT = 1;
const MAX_BYTES = 4096;

export interface StoreFile {
  /** Keys of places in the store have it. */
  readonly number: bigint;
  readonly seed: Seed;
}

export function newSeed(): Seed {
  const bytes = randomBytes(8);
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
}

/** Throws a FormatError for what is no store of this format. */
export function readStoreFile(disk: Disk, folder: string): StoreFile {
  const path = `${folder}/store.json`;
  const { format, number, seed } = parsed(read(disk, path), path);
  if (format !== FORMAT)
    throw new FormatError(`${path}: format ${JSON.stringify(format)} is none that this release reads: ${FORMAT}`);
  if (typeof number !== 'string' || !/^[1-9][0-9]{0,19}$/.test(number) || BigInt(number) >= 2n ** 64n)
    throw new FormatError(`${path}: number must be the digits of a number from 1 to 2^64 - 1`);
  if (!isSeed(seed)) throw new FormatError(`${path}: seed must be two numbers from 0 to 2^32 - 1`);
  return { number: BigInt(number), seed };
}

function isSeed(value: unknown): value is Seed {
  return Array.isArray(value) && value.length === 2 && value.every((each) => each === each >>> 0);
}

/** Durable when the folder is synced. */
export function writeStoreFile(disk: Disk, folder: string, tmp: string, { number, seed }: StoreFile): void {
  const fd = disk.open(tmp, 'create');
  try {
    disk.pwrite(fd, Buffer.from(`${JSON.stringify({ format: FORMAT, number: String(number), seed })}\n`), 0);
    disk.datasync(fd);
  } finally {
    disk.close(fd);
  }
  disk.rename(tmp, `${folder}/store.json`);
}

function read(disk: Disk, path: string): Buffer {
  let fd: number;
  try {
    fd = disk.open(path, 'read');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw new FormatError(`${path} is missing: the folder is no store`);
    throw error;
  }
  try {
    const bytes = Buffer.alloc(MAX_BYTES);
    return bytes.subarray(0, disk.pread(fd, bytes, 0));
  } finally {
    disk.close(fd);
  }
}

function parsed(bytes: Buffer, path: string): { format?: unknown; number?: unknown; seed?: unknown } {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Told below.
  }
  throw new FormatError(`${path} is not JSON of a store`);
}

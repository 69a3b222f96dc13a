import type { Disk } from '../disk/disk.ts';
import { errorCode } from '../linux/errno.ts';
import { FormatError } from '../trees/format/format-error.ts';

const FORMAT = 1;
const MAX_BYTES = 4096;

/** The number of the store at this folder, which keys of places in it have. Throws a FormatError for what is no store of this format. */
export function readStoreFile(disk: Disk, folder: string): bigint {
  const path = `${folder}/store.json`;
  const { format, number } = parsed(read(disk, path), path);
  if (format !== FORMAT)
    throw new FormatError(`${path}: format ${JSON.stringify(format)} is none that this release reads: ${FORMAT}`);
  if (typeof number !== 'string' || !/^[1-9][0-9]{0,19}$/.test(number) || BigInt(number) >= 2n ** 64n)
    throw new FormatError(`${path}: number must be the digits of a number from 1 to 2^64 - 1`);
  return BigInt(number);
}

/** Durable when the folder is synced. */
export function writeStoreFile(disk: Disk, folder: string, tmp: string, number: bigint): void {
  const fd = disk.open(tmp, 'create');
  try {
    disk.pwrite(fd, Buffer.from(`${JSON.stringify({ format: FORMAT, number: String(number) })}\n`), 0);
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

function parsed(bytes: Buffer, path: string): { format?: unknown; number?: unknown } {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Told below.
  }
  throw new FormatError(`${path} is not JSON of a store`);
}

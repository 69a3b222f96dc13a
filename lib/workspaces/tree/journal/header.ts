import { crc32 } from 'node:zlib';
import { ServiceError } from '../../../errors.ts';
import type { JournalEnd } from '../disk/tree-root.ts';

const MAGIC = 'PDJL';
const FORMAT = 1;
const CRC_AT = 32;
export const HEADER_BYTES = 36;

/** What a journal goes on from. */
export interface JournalHeader {
  readonly store: bigint;
  readonly generation: number;
  /** Of the journal before, when this one began. One that ends elsewhere is not its former. */
  readonly former: JournalEnd;
  /**
   * A random number in the checksums of all records: nothing that was in the file before, nor anything that a program chose,
   * goes on from here.
   */
  readonly salt: number;
}

/** `PDJL`, u8 format, 3 zeros, u64 store, u32 generation, u32 end, u32 crc, u32 salt, u32 crc32 of all before. */
export function encodeHeader({ store, generation, former, salt }: JournalHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write(MAGIC, 0, 'latin1');
  bytes.writeUInt8(FORMAT, 4);
  bytes.writeBigUInt64LE(store, 8);
  bytes.writeUInt32LE(generation, 16);
  bytes.writeUInt32LE(former.end, 20);
  bytes.writeUInt32LE(former.crc, 24);
  bytes.writeUInt32LE(salt, 28);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CRC_AT)), CRC_AT);
  return bytes;
}

/** undefined: a header that was never written whole, or is damaged. Throws for another format. */
export function decodeHeader(bytes: Buffer): JournalHeader | undefined {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined;
  if (crc32(bytes.subarray(0, CRC_AT)) !== headerCrc(bytes)) return undefined;
  const format = bytes.readUInt8(4);
  if (format !== FORMAT) {
    const text = `a journal of the sandbox has format ${format}, and this server reads format ${FORMAT} only`;
    throw new ServiceError('FAILED_PRECONDITION', text);
  }
  return {
    store: bytes.readBigUInt64LE(8),
    generation: bytes.readUInt32LE(16),
    former: { end: bytes.readUInt32LE(20), crc: bytes.readUInt32LE(24) },
    salt: bytes.readUInt32LE(28),
  };
}

/** What the checksum of the first record goes on from. */
export function headerCrc(bytes: Buffer): number {
  return bytes.readUInt32LE(CRC_AT);
}

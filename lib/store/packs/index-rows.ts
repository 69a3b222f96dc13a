import { crc32 } from 'node:zlib';
import { hashKey, type Key } from '../../trees/format/keys.ts';
import { sha256 } from '../digest.ts';
import { isKind, type Packed } from './record.ts';

/**
 * Behind the records of a sealed pack: a fan-out of 256 u32 (rows whose first byte is not larger), rows by ascending digests,
 * and a trailer. A row: `0 digest`, `32 u8 kind`, `33 u32 offset`, `37 u32 length`.
 */
export const ROW_BYTES = 41;
export const DIGEST_BYTES = 32;
export const FAN_OUT = 256;
export const FAN_OUT_BYTES = FAN_OUT * 4;
const ROW = { kind: 32, offset: 33, length: 37 } as const;

/** `0 magic`, `8 u64 place of the index`, `16 u32 rows`, `20 u32 crc of the other 52`, `24 SHA-256 of fan-out and rows`. */
export const TRAILER_BYTES = 56;
const MAGIC = Buffer.from('PDKPEND1');
const AT = { place: 8, rows: 16, crc: 20, digest: 24 } as const;

export interface Trailer {
  /** Where the fan-out is. */
  readonly place: number;
  readonly rows: number;
  readonly digest: Buffer;
}

/** What is written behind the records, which end at `place`. */
export function encodeIndex(records: Iterable<Packed>, place: number): Buffer {
  const sorted = [...records].sort((a, b) => (a.key < b.key ? -1 : 1));
  const length = FAN_OUT_BYTES + sorted.length * ROW_BYTES;
  const bytes = Buffer.alloc(length + TRAILER_BYTES);
  sorted.forEach((record, row) => {
    const at = FAN_OUT_BYTES + row * ROW_BYTES;
    bytes.write(record.key.slice(1), at, 'latin1');
    bytes.writeUInt8(record.kind, at + ROW.kind);
    bytes.writeUInt32LE(record.offset, at + ROW.offset);
    bytes.writeUInt32LE(record.length, at + ROW.length);
  });
  for (let byte = 0, row = 0; byte < FAN_OUT; byte++) {
    while (row < sorted.length && sorted[row]!.key.charCodeAt(1) === byte) row++;
    bytes.writeUInt32LE(row, byte * 4);
  }
  MAGIC.copy(bytes, length);
  bytes.writeBigUInt64LE(BigInt(place), length + AT.place);
  bytes.writeUInt32LE(sorted.length, length + AT.rows);
  sha256(bytes.subarray(0, length)).copy(bytes, length + AT.digest);
  bytes.writeUInt32LE(trailerCrc(bytes.subarray(length)), length + AT.crc);
  return bytes;
}

/** undefined: it is none of a file of this size. */
export function readTrailer(bytes: Buffer, size: number): Trailer | undefined {
  if (bytes.length !== TRAILER_BYTES || bytes.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) !== 0) return undefined;
  if (bytes.readUInt32LE(AT.crc) !== trailerCrc(bytes)) return undefined;
  const place = Number(bytes.readBigUInt64LE(AT.place));
  const rows = bytes.readUInt32LE(AT.rows);
  if (place + FAN_OUT_BYTES + rows * ROW_BYTES + TRAILER_BYTES !== size) return undefined;
  return { place, rows, digest: Buffer.from(bytes.subarray(AT.digest)) };
}

/** undefined: a kind that is none, so the row is damaged. */
export function readRow(rows: Buffer, row: number): Packed | undefined {
  const at = row * ROW_BYTES;
  const kind = rows.readUInt8(at + ROW.kind);
  if (!isKind(kind)) return undefined;
  const key = hashKey(rows.subarray(at, at + DIGEST_BYTES));
  return { key, kind, offset: rows.readUInt32LE(at + ROW.offset), length: rows.readUInt32LE(at + ROW.length) };
}

/** The first of ascending rows of `width` bytes whose digest is not smaller than that of a key. */
export function firstRow(rows: Buffer, width: number, key: Key): number {
  let [low, high] = [0, Math.floor(rows.length / width)];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareAt(rows, middle * width, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Below 0 if the digest at this place is smaller than that of the key. */
export function compareAt(bytes: Buffer, at: number, key: Key): number {
  for (let index = 0; index < DIGEST_BYTES; index++) {
    const order = bytes[at + index]! - key.charCodeAt(index + 1);
    if (order !== 0) return order;
  }
  return 0;
}

function trailerCrc(bytes: Buffer): number {
  return crc32(bytes.subarray(AT.digest), crc32(bytes.subarray(0, AT.crc)));
}

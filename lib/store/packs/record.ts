import { crc32 } from 'node:zlib';
import { digestOf, hashKey, type Key } from '../../trees/format/keys.ts';
import { MAX_PAYLOAD } from '../limits.ts';

/** At the start of a pack: magic, `8 u32 format`, `12 u32 0`, 16 random bytes, which are its name. */
export const PACK_HEADER = 32;
const MAGIC = Buffer.from('PDKPACK1');
const FORMAT = 1;

/**
 * Before each payload: magic, `4 u8 kind`, `5 u8 0`, `6 u16 0`, `8 u32 length`, `12 u32 crc of the name of the pack and the other 44`,
 * `16 digest`. Nobody outside knows the name: so no contents can look like records, and lead a scan over those of others.
 */
export const RECORD_HEADER = 48;
export const RECORD_MAGIC = Buffer.from('PREC');
const AT = { kind: 4, reserved: 5, length: 8, crc: 12, digest: 16 } as const;

/** What a record is for. Its digest alone names it: kinds are for people and statistics. */
export const RECORD = { blob: 1, directory: 2, version: 3 } as const;
export type RecordKind = (typeof RECORD)[keyof typeof RECORD];

/** A record in a pack; `offset` and `length` are those of its payload. */
export interface Packed {
  readonly key: Key;
  readonly kind: RecordKind;
  readonly offset: number;
  readonly length: number;
}

export function packHeader(name: string): Buffer {
  const bytes = Buffer.alloc(PACK_HEADER);
  MAGIC.copy(bytes);
  bytes.writeUInt32LE(FORMAT, MAGIC.length);
  Buffer.from(name, 'hex').copy(bytes, 16);
  return bytes;
}

export function isPackHeader(bytes: Buffer, name: string): boolean {
  return bytes.equals(packHeader(name));
}

/** What the crc of records begins with. */
export function seedOf(name: string): number {
  return crc32(Buffer.from(name, 'hex'));
}

export function writeRecord(
  into: Buffer,
  at: number,
  seed: number,
  { key, kind, length }: Omit<Packed, 'offset'>,
): void {
  RECORD_MAGIC.copy(into, at);
  into.writeUInt32LE(kind, at + AT.kind);
  into.writeUInt32LE(length, at + AT.length);
  into.write(key.slice(1), at + AT.digest, 'latin1');
  into.writeUInt32LE(crcAt(into, at, seed), at + AT.crc);
}

/** The record whose header is here; undefined if none is. */
export function readRecord(bytes: Buffer, at: number, seed: number): Omit<Packed, 'offset'> | undefined {
  if (bytes.length - at < RECORD_HEADER || bytes.compare(RECORD_MAGIC, 0, 4, at, at + 4) !== 0) return undefined;
  const kind = bytes.readUInt32LE(at + AT.kind);
  const length = bytes.readUInt32LE(at + AT.length);
  if (!isKind(kind) || length > MAX_PAYLOAD || bytes.readUInt32LE(at + AT.crc) !== crcAt(bytes, at, seed))
    return undefined;
  return { key: hashKey(bytes.subarray(at + AT.digest, at + RECORD_HEADER)), kind, length };
}

/** Whether the header here is that of this object. */
export function isRecordOf(bytes: Buffer, seed: number, key: Key, length: number): boolean {
  const record = readRecord(bytes, 0, seed);
  return record !== undefined && record.key === key && record.length === length;
}

export function isKind(kind: number): kind is RecordKind {
  return kind >= RECORD.blob && kind <= RECORD.version;
}

/** For messages. */
export function hexOf(key: Key): string {
  return digestOf(key)?.toString('hex') ?? Buffer.from(key, 'latin1').toString('hex');
}

function crcAt(bytes: Buffer, at: number, seed: number): number {
  return crc32(bytes.subarray(at + AT.digest, at + RECORD_HEADER), crc32(bytes.subarray(at, at + AT.crc), seed));
}

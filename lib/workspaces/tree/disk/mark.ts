import { crc32 } from 'node:zlib';

/**
 * A place in the journals up to which all was durable once. It is written after syncs and not synced itself: a loss of power
 * may leave an older one. With it, journals that are lost or cut are told from short ones.
 */
export interface Mark {
  /** Number of the journal. */
  readonly generation: number;
  /** Bytes of it. */
  readonly end: number;
}

/** u32 generation, u32 end, u32 crc32 of both. */
export const MARK_BYTES = 12;

export function encodeMark({ generation, end }: Mark): Buffer {
  const bytes = Buffer.alloc(MARK_BYTES);
  bytes.writeUInt32LE(generation, 0);
  bytes.writeUInt32LE(end, 4);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 8)), 8);
  return bytes;
}

/** undefined for bytes that are none. */
export function decodeMark(bytes: Buffer): Mark | undefined {
  const mark = { generation: bytes.readUInt32LE(0), end: bytes.readUInt32LE(4) };
  const known = mark.generation > 0 && bytes.readUInt32LE(8) === crc32(bytes.subarray(0, 8));
  return known ? mark : undefined;
}

export function isBefore(a: Mark, b: Mark): boolean {
  return a.generation < b.generation || (a.generation === b.generation && a.end < b.end);
}

import { crc32 } from 'node:zlib';
import type { JournalEnd } from '../disk/tree-root.ts';

/** Before each record: u32 length, u32 crc32 of the record, which goes on from that of the one before. */
export const FRAME_BYTES = 8;

/** Writes the frame of the record that begins behind it and ends at `end`. Returns its checksum. */
export function sealFrame(bytes: Buffer, at: number, end: number, before: number): number {
  const crc = crc32(bytes.subarray(at + FRAME_BYTES, end), before);
  bytes.writeUInt32LE(end - at - FRAME_BYTES, at);
  bytes.writeUInt32LE(crc, at + 4);
  return crc;
}

/** The end of the record at a place; undefined if none is there: zeros, a torn record, or what went on from another one. */
export function frameAt(bytes: Buffer, at: number, before: number): JournalEnd | undefined {
  if (at + FRAME_BYTES > bytes.length) return undefined;
  const length = bytes.readUInt32LE(at);
  const end = at + FRAME_BYTES + length;
  if (length === 0 || end > bytes.length) return undefined;
  const crc = crc32(bytes.subarray(at + FRAME_BYTES, end), before);
  return crc === bytes.readUInt32LE(at + 4) ? { end, crc } : undefined;
}

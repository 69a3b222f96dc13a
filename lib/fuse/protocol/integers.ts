const TWO_32 = 0x1_0000_0000;

/**
 * Reads a little-endian u64. Exact up to 2^53 - 1; a larger value is returned rounded, and a caller for whom this
 * matters must check `Number.isSafeInteger`.
 */
export function readU64(from: Buffer, offset: number): number {
  return from.readUInt32LE(offset + 4) * TWO_32 + from.readUInt32LE(offset);
}

/** Reads a little-endian s64 with the same precision as `readU64`. */
export function readS64(from: Buffer, offset: number): number {
  return from.readInt32LE(offset + 4) * TWO_32 + from.readUInt32LE(offset);
}

/**
 * Writes a little-endian u32; of a larger or negative value its lowest 32 bits. Buffer.writeUInt32LE checks the range first,
 * and the integers of a reply with attributes took as long as all else that a GETATTR does.
 */
export function writeU32(into: Buffer, value: number, offset: number): void {
  into[offset] = value & 0xff;
  into[offset + 1] = (value >>> 8) & 0xff;
  into[offset + 2] = (value >>> 16) & 0xff;
  into[offset + 3] = value >>> 24;
}

/**
 * Writes a little-endian u64 or s64, the latter in two's complement for negative values (times before 1970); `value` must
 * be a safe integer.
 */
export function writeU64(into: Buffer, value: number, offset: number): void {
  writeU32(into, value, offset);
  writeU32(into, Math.floor(value / TWO_32), offset + 4);
}

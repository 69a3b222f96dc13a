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

/** Writes a little-endian s64: two's complement for negative values (times before 1970). */
export function writeS64(into: Buffer, value: number, offset: number): void {
  const high = Math.floor(value / TWO_32);
  into.writeUInt32LE(value - high * TWO_32, offset);
  into.writeInt32LE(high, offset + 4);
}

/** Writes a little-endian u64; `value` must be a safe integer. */
export function writeU64(into: Buffer, value: number, offset: number): void {
  const high = Math.floor(value / TWO_32);
  into.writeUInt32LE(value - high * TWO_32, offset);
  into.writeUInt32LE(high, offset + 4);
}

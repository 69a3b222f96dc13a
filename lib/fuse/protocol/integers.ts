const TWO_32 = 0x1_0000_0000;

/** Exact up to 2^53 - 1; above that the result is not a safe integer, which the caller must check where it matters. */
export function readU64(from: Buffer, offset: number): number {
  return from.readUInt32LE(offset + 4) * TWO_32 + from.readUInt32LE(offset);
}

export function readS64(from: Buffer, offset: number): number {
  return from.readInt32LE(offset + 4) * TWO_32 + from.readUInt32LE(offset);
}

/** Two's complement for negative values (times before 1970). */
export function writeS64(into: Buffer, value: number, offset: number): void {
  const high = Math.floor(value / TWO_32);
  into.writeUInt32LE(value - high * TWO_32, offset);
  into.writeInt32LE(high, offset + 4);
}

export function writeU64(into: Buffer, value: number, offset: number): void {
  const high = Math.floor(value / TWO_32);
  into.writeUInt32LE(value - high * TWO_32, offset);
  into.writeUInt32LE(high, offset + 4);
}

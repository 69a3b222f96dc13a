import { hunks } from '../patch/unified.ts';

/** The hunks of a diff of two texts. */
export function diffOf(before: Uint8Array, after: Uint8Array): Uint8Array {
  return new Uint8Array(Buffer.from(hunks(latin(before), latin(after)), 'latin1'));
}

/** The differ works on one character for each byte. */
const latin = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

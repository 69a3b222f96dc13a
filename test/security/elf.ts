/** Linux/x86-64 `exit(0)`. */
export const EXIT_0: readonly number[] = [0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05];

const HEADERS = 120;
const BASE = 0x400000n;

/** Returns a complete x86-64 program of a few instructions in base64: ELF header, one segment, code. Needs no compiler. */
export function elf(code: readonly number[]): string {
  const image = Buffer.alloc(HEADERS + code.length);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(image);
  image.writeUInt16LE(2, 16); // e_type: executable
  image.writeUInt16LE(62, 18); // e_machine: x86-64
  image.writeUInt32LE(1, 20);
  image.writeBigUInt64LE(BASE + BigInt(HEADERS), 24); // e_entry
  image.writeBigUInt64LE(64n, 32); // e_phoff
  image.writeUInt16LE(64, 52);
  image.writeUInt16LE(56, 54);
  image.writeUInt16LE(1, 56); // e_phnum
  image.writeUInt32LE(1, 64); // PT_LOAD
  image.writeUInt32LE(5, 68); // read and execute
  image.writeBigUInt64LE(BASE, 80);
  image.writeBigUInt64LE(BASE, 88);
  image.writeBigUInt64LE(BigInt(image.length), 96);
  image.writeBigUInt64LE(BigInt(image.length), 104);
  image.writeBigUInt64LE(0x1000n, 112);
  Buffer.from(code).copy(image, HEADERS);
  return image.toString('base64');
}

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Unzstd } from '../../../lib/archive/unzstd.ts';

const pack = (bytes: Buffer, ...options: string[]) => execFileSync('zstd', ['-qc', ...options], { input: bytes });
const skippable = (bytes: Buffer) => {
  const head = Buffer.from('502a4d1800000000', 'hex');
  head.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([head, bytes]);
};

/** Decompresses data that comes in pieces of `size` bytes. */
function unpack(data: Buffer, size = data.length): Buffer {
  const unzstd = new Unzstd();
  const all: Uint8Array[] = [];
  for (let at = 0; at < data.length; at += size) {
    unzstd.push(data.subarray(at, at + size));
    for (let part = unzstd.next(); part !== undefined; part = unzstd.next()) all.push(...part);
  }
  unzstd.finish();
  return Buffer.concat(all);
}

function changed(data: Buffer, at: number): Buffer {
  const copy = Buffer.from(data);
  copy[at]! ^= 1;
  return copy;
}

describe('zstd data', () => {
  it.each([0, 1, 3, 4, 7, 8, 13, 31, 32, 33, 40, 63, 64, 100, 1000, 200_003])('of %i bytes', (length) => {
    const bytes = randomBytes(length);
    expect(unpack(pack(bytes)).equals(bytes)).toBe(true);
    expect(unpack(pack(bytes, '--no-check')).equals(bytes)).toBe(true);
  });

  it.each([1, 2, 3, 5, 7, 1000])('in pieces of %i bytes', (size) => {
    const parts = [
      Buffer.from('one'),
      Buffer.alloc(0),
      Buffer.from('two'.repeat(1000)),
      Buffer.from('3'),
      randomBytes(3000),
    ];
    const frames = parts.map((part, index) => pack(part, ...(index % 2 === 0 ? ['--no-check'] : ['--check'])));
    const data = Buffer.concat([skippable(Buffer.from('size')), ...frames, skippable(Buffer.alloc(0))]);
    expect(unpack(data, size).equals(Buffer.concat(parts))).toBe(true);
  });

  it('whose content differs from its checksum is damaged', () => {
    const data = pack(randomBytes(1000));
    for (const at of [20, 500, data.length - 1])
      expect(() => unpack(changed(data, at))).toThrow(/zstd data is damaged/);
    const second = Buffer.concat([pack(Buffer.from('first')), changed(data, 500), pack(Buffer.from('third'))]);
    expect(() => unpack(second)).toThrow(/zstd data is damaged/);
  });

  it('that ends early is truncated', () => {
    const data = Buffer.concat([skippable(Buffer.from('four')), pack(randomBytes(300))]);
    for (const length of [3, 8, 11, 14, 100, data.length - 1])
      expect(() => unpack(data.subarray(0, length)), `${length}`).toThrow(/zstd data is truncated/);
  });

  it('is decompressed in steps of bounded size', () => {
    const zeros = pack(Buffer.alloc(100_000));
    const unzstd = new Unzstd();
    unzstd.push(Buffer.concat(Array.from({ length: 50 }, () => zeros)));
    for (let part = unzstd.next(); part !== undefined; part = unzstd.next()) {
      expect(Buffer.concat(part).length).toBeLessThan(400_000);
    }
  });
});

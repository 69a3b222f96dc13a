import { describe, expect, it } from 'vitest';
import { fromLatin1 } from '../../../../lib/byte-string.ts';
import { type DirectoryObject, HEADER } from '../../../../lib/trees/format/directory-object.ts';
import { encodeObject } from '../../../../lib/trees/format/encode-object.ts';
import type { Entry } from '../../../../lib/trees/format/entry.ts';
import { FormatError } from '../../../../lib/trees/format/format-error.ts';
import { NO_KEY } from '../../../../lib/trees/format/keys.ts';
import { parseObject } from '../../../../lib/trees/format/parse-object.ts';
import type { DirectoryRecord } from '../../../../lib/trees/format/records.ts';
import { noTotals } from '../../../../lib/trees/format/totals.ts';
import { keyOfBytes } from '../memory.ts';
import { anyEntry, anyNames, directoryEntry, fileEntry, type Random, seeded } from '../random.ts';

/** Objects with entries of all types, and one above the entries. */
const OBJECTS = [1, 2, 3].map((seed) => {
  const random = seeded(seed);
  return encodeObject(
    0,
    anyNames(random, 8).map((name) => anyEntry(random, name)),
  );
});
OBJECTS.push(encodeObject(1, anyNames(seeded(7), 6).map(itemOf)));

function itemOf(name: DirectoryRecord['name'], index: number): DirectoryRecord {
  return { name, key: keyOfBytes(String(index)), count: 64 + index, totals: { ...noTotals(), files: 70, longest: 9 } };
}

describe('bytes that are no directory object', () => {
  it.each([
    ['nothing', () => Buffer.alloc(0), 'less than a header'],
    ['zeros', () => Buffer.alloc(500), 'no directory object'],
    ['another format', () => changed((bytes) => bytes.writeUInt8(1, HEADER.format)), 'of format 1: this is 2'],
    ['no records', () => changed((bytes) => bytes.writeUInt32LE(0, HEADER.count)), '0 records'],
    ['too many records', () => changed((bytes) => bytes.writeUInt32LE(2 ** 31, HEADER.count)), '2147483648 records'],
    [
      'another table',
      () => changed((bytes) => bytes.writeUInt32LE(2 ** 31, HEADER.table)),
      'the table is at a wrong place',
    ],
    ['more files', () => changed((bytes) => bytes.writeUInt8(99, HEADER.totals)), 'the totals are not those'],
  ])('are refused with the reason: %s', (_, bytes, why) => {
    expect(() => parseObject(bytes())).toThrow(why);
  });

  it.each<[string, Partial<Entry>, string]>([
    ['a name with a slash', { name: fromLatin1('a/b') }, 'record 0: a name with NUL or slash'],
    ['a name with NUL', { name: fromLatin1('a\0b') }, 'record 0: a name with NUL or slash'],
    ['dots', { name: fromLatin1('..') }, 'record 0: a name of dots'],
    ['an empty name', { name: fromLatin1('') }, 'record 0: an empty name'],
    ['a type of the future', { type: 8 }, 'record 0: type 8'],
    ['too many mode bits', { mode: 0o10644 }, 'record 0: mode bits above 07777'],
    ['number 0', { ino: 0 }, 'record 0: number 0'],
    ['no links', { nlink: 0 }, 'record 0: nlink 0'],
    ['contents without bytes', { size: 0 }, 'record 0: 0 bytes with a key of kind 1'],
    ['a link without target', { type: 3 }, 'record 0: type 3 with a key'],
    ['a device without number', { type: 6, size: 0, key: NO_KEY }, 'record 0: type 6 without what it always has'],
    ['a file with a target', { target: fromLatin1('b') }, 'record 0: type 1 with tag 2'],
    ['two seconds of nanoseconds', { mtimeNs: 2e9 }, 'record 0: a time with too many nanoseconds'],
  ])('are refused with the reason: %s', (_, wrong, why) => {
    expect(() => parseObject(encodeObject(0, [fileEntry('a', 'x', wrong)]).bytes)).toThrow(why);
  });

  it('are refused if the names are not ascending', () => {
    const object = encodeObject(0, [fileEntry('b', ''), directoryEntry('a')]);
    expect(() => parseObject(object.bytes)).toThrow('record 1: its name is not after the one before');
  });

  it('are refused wherever an object is cut off, and with bytes after it', () => {
    for (const { bytes } of OBJECTS) {
      for (let length = 0; length < bytes.length; length++) expectRefused(bytes.subarray(0, length));
      expectRefused(Buffer.concat([bytes, Buffer.alloc(1)]));
      expectRefused(Buffer.concat([bytes, Buffer.alloc(4)]));
    }
  });

  it('are refused, or are another object that the encoder makes, whatever bit of an object is flipped', () => {
    for (const { bytes } of OBJECTS) {
      for (let at = 0; at < bytes.length; at++) {
        for (let bit = 0; bit < 8; bit++) {
          const flipped = Buffer.from(bytes);
          flipped[at]! ^= 1 << bit;
          expectWhole(flipped);
        }
      }
    }
  });

  it('are refused, or are another object that the encoder makes, whatever bytes are overwritten', () => {
    const random = seeded(11);
    for (let run = 0; run < 10_000; run++) {
      const bytes = Buffer.from(OBJECTS[random(OBJECTS.length)]!.bytes);
      for (let times = 1 + random(3); times > 0; times--) overwrite(random, bytes);
      expectWhole(bytes);
    }
  });
});

function changed(change: (bytes: Buffer) => void): Buffer {
  const { bytes } = encodeObject(0, [fileEntry('a', 'x'), fileEntry('b', 'y')]);
  change(bytes);
  return bytes;
}

function overwrite(random: Random, bytes: Buffer): void {
  const value = [0, 1, 0x7f, 0xff][random(4)]!;
  const start = random(bytes.length);
  bytes.fill(value, start, Math.min(bytes.length, start + 1 + random(6)));
}

function expectRefused(bytes: Buffer): void {
  expect(parsed(bytes)).toBeUndefined();
}

/** Nothing but a FormatError is thrown, and what is not refused has one form. */
function expectWhole(bytes: Buffer): void {
  const object = parsed(bytes);
  if (object === undefined) return;
  const records = Array.from({ length: object.count }, (_, index) => object.record(index));
  if (!encodeObject(object.level, records).bytes.equals(bytes))
    throw new Error(
      `two forms at byte ${encodeObject(object.level, records).bytes.findIndex((byte, at) => byte !== bytes[at])}: ${bytes.toString('hex')}`,
    );
}

function parsed(bytes: Buffer): DirectoryObject | undefined {
  try {
    return parseObject(bytes);
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  }
}

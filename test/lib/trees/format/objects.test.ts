import { describe, expect, it } from 'vitest';
import { fromLatin1 } from '../../../../lib/byte-string.ts';
import { encodeObject, Range } from '../../../../lib/trees/format/encode-object.ts';
import { type Entry, TYPE } from '../../../../lib/trees/format/entry.ts';
import { fileKey, placeKey } from '../../../../lib/trees/format/keys.ts';
import { parseObject } from '../../../../lib/trees/format/parse-object.ts';
import { noTotals, type Totals } from '../../../../lib/trees/format/totals.ts';
import { keyOfBytes } from '../memory.ts';
import { anyEntry, anyNames, directoryEntry, fileEntry, seeded } from '../random.ts';

const RUNS = 60;

describe('a directory object', () => {
  it('has all that its entries have', () => {
    for (let seed = 1; seed <= RUNS; seed++) {
      const entries = randomEntries(seed);
      const object = parseObject(encodeObject(0, entries).bytes);
      expect(Array.from(entries, (_, index) => object.entry(index))).toEqual(entries);
    }
  });

  it('finds its names, and the place of others', () => {
    for (let seed = 1; seed <= RUNS; seed++) {
      const entries = randomEntries(seed);
      const object = encodeObject(0, entries);
      const names = entries.map(({ name }) => name);
      for (const name of [...names, ...anyNames(seeded(seed + RUNS), 20)]) {
        const index = names.indexOf(name);
        const place = names.filter((each) => each < name).length;
        expect(object.find(name)).toBe(index >= 0 ? index : -1 - place);
      }
    }
  });

  it('is the same, from entries or from ranges of another object between changed entries', () => {
    for (let seed = 1; seed <= RUNS; seed++) {
      const random = seeded(seed);
      const before = encodeObject(0, randomEntries(seed));
      const pieces = Array.from({ length: before.count }, (_, index) =>
        random(3) ? new Range(before, index, index + 1) : anyEntry(random, before.entry(index).name),
      );
      const entries = pieces.map((piece) => (piece instanceof Range ? piece.object.entry(piece.from) : piece));
      expect(encodeObject(0, pieces).bytes.equals(encodeObject(0, entries).bytes)).toBe(true);
    }
  });

  it('has the totals of what is below it', () => {
    const place = placeKey({ store: 1n, segment: 0, offset: 0, length: 500, crc: 0 });
    const below: Totals = {
      ...noTotals(),
      files: 3,
      bytes: 30,
      linked: 2,
      directories: 1,
      ownEntries: 1,
      ownBytes: 10,
      longest: 7,
    };
    const entries: Entry[] = [
      directoryEntry('codebase', { size: 4, key: keyOfBytes('x'), totals: { ...below, ownEntries: 0, ownBytes: 0 } }),
      directoryEntry('empty'),
      directoryEntry('own', { size: 4, key: place, totals: below }),
      fileEntry('plain', '12345', { nlink: 2 }),
      fileEntry('written', '', { size: 100, key: fileKey({ store: 1n, number: 1, birth: 1, version: 0 }) }),
      { ...fileEntry('zlink', ''), type: TYPE.symlink, target: fromLatin1('plain'), size: 5 },
    ];
    expect(encodeObject(0, entries).totals).toEqual({
      files: 9,
      bytes: 170,
      linked: 5,
      directories: 5,
      ownEntries: 3,
      ownBytes: 610,
      longest: 'codebase/'.length + 7,
    });
  });
});

function randomEntries(seed: number): Entry[] {
  const random = seeded(seed);
  return anyNames(random, 1 + random(40)).map((name) => anyEntry(random, name));
}

import { describe, expect, it } from 'vitest';
import {
  digestOf,
  fileKey,
  fileOf,
  hashKey,
  isLocal,
  KIND,
  kindOf,
  NO_KEY,
  placeKey,
  placeOf,
  slotKey,
  slotOf,
} from '../../../../lib/trees/format/keys.ts';

const digest = Buffer.from(Array.from({ length: 32 }, (_, byte) => 255 - byte));
const place = { store: 2n ** 64n - 1n, segment: 2 ** 32 - 1, offset: 1, length: 2 ** 26, crc: 2 ** 32 - 1 };
const slot = { store: 3n, class: 2, slot: 2 ** 40 - 1, sequence: 2 ** 48 - 1, birth: 7, crc: 9 };
const file = { store: 4n, number: 2 ** 48 - 1, birth: 2 ** 32 - 1, version: 2 ** 48 - 1 };

describe('keys', () => {
  it('have the parts that they were made of', () => {
    expect(digestOf(hashKey(digest))).toEqual(digest);
    expect(placeOf(placeKey(place))).toEqual(place);
    expect(slotOf(slotKey(slot))).toEqual(slot);
    expect(fileOf(fileKey(file))).toEqual(file);
  });

  it('have no parts of another kind', () => {
    expect(digestOf(placeKey(place))).toBeUndefined();
    expect(placeOf(hashKey(digest))).toBeUndefined();
    expect(slotOf(fileKey(file))).toBeUndefined();
    expect(fileOf(NO_KEY)).toBeUndefined();
  });

  it('belong to a sandbox unless they are hashes or name nothing', () => {
    const local = [NO_KEY, hashKey(digest), placeKey(place), slotKey(slot), fileKey(file)].filter(isLocal);
    expect(local.map(kindOf)).toEqual([KIND.place, KIND.slot, KIND.file]);
  });
});

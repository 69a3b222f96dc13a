import { readU48, writeU48 } from './integers.ts';

declare const brand: unique symbol;

/**
 * The name of an object or of contents: one char for its kind and 32 for the name itself, one char a byte. Equal keys name
 * equal bytes; unequal ones may, too, if they are not both hashes.
 */
export type Key = string & { readonly [brand]: true };

export const KEY_BYTES = 33;

export const KIND = {
  /** Nothing: an empty directory, an empty file, or what has no contents. */
  none: 0,
  /** SHA-256, in the store of a codebase. */
  hash: 1,
  /** A directory object in a segment of a sandbox's store. */
  place: 2,
  /** Contents of up to 64 KiB in a slot of a slab. */
  slot: 3,
  /** Contents in a data file. */
  file: 4,
} as const;

export const NO_KEY = '\0'.repeat(KEY_BYTES) as Key;

/** The bytes of each kind that are used; the rest are zeros. */
const USED: readonly number[] = [0, 32, 24, 28, 24];

export interface Place {
  store: bigint;
  segment: number;
  offset: number;
  length: number;
  crc: number;
}

export interface Slot {
  store: bigint;
  /** Of slots: their size. */
  class: number;
  slot: number;
  sequence: number;
  /** Number of the freeze in whose time the contents were made. */
  birth: number;
  crc: number;
}

export interface DataFile {
  store: bigint;
  number: number;
  birth: number;
  /** Number of writes in place. */
  version: number;
}

export function readKey(bytes: Buffer, at: number): Key {
  return bytes.toString('latin1', at, at + KEY_BYTES) as Key;
}

export function writeKey(bytes: Buffer, key: Key, at: number): void {
  bytes.write(key, at, 'latin1');
}

export function kindOf(key: Key): number {
  return key.charCodeAt(0);
}

/** Whether the key belongs to a sandbox's store: all but hashes do. */
export function isLocal(key: Key): boolean {
  return kindOf(key) > KIND.hash;
}

/** Whether the bytes are those of a key. */
export function isKeyAt(bytes: Buffer, at: number): boolean {
  const used = USED[bytes.readUInt8(at)];
  if (used === undefined) return false;
  for (let index = at + 1 + used; index < at + KEY_BYTES; index++) if (bytes[index] !== 0) return false;
  return true;
}

export function hashKey(digest: Buffer): Key {
  return madeKey(KIND.hash, (bytes) => digest.copy(bytes, 1));
}

export function placeKey({ store, segment, offset, length, crc }: Place): Key {
  return madeKey(KIND.place, (bytes) => {
    bytes.writeBigUInt64LE(store, 1);
    bytes.writeUInt32LE(segment, 9);
    bytes.writeUInt32LE(offset, 13);
    bytes.writeUInt32LE(length, 17);
    bytes.writeUInt32LE(crc, 21);
  });
}

/** Where a key of a place has the length of the object. */
export const PLACE_LENGTH_AT = 17;

export function slotKey({ store, class: size, slot, sequence, birth, crc }: Slot): Key {
  return madeKey(KIND.slot, (bytes) => {
    bytes.writeBigUInt64LE(store, 1);
    bytes.writeUInt8(size, 9);
    bytes.writeUIntLE(slot, 10, 5);
    writeU48(bytes, sequence, 15);
    bytes.writeUInt32LE(birth, 21);
    bytes.writeUInt32LE(crc, 25);
  });
}

export function fileKey({ store, number, birth, version }: DataFile): Key {
  return madeKey(KIND.file, (bytes) => {
    bytes.writeBigUInt64LE(store, 1);
    writeU48(bytes, number, 9);
    bytes.writeUInt32LE(birth, 15);
    writeU48(bytes, version, 19);
  });
}

function madeKey(kind: number, fill: (bytes: Buffer) => void): Key {
  const bytes = Buffer.alloc(KEY_BYTES);
  bytes[0] = kind;
  fill(bytes);
  return readKey(bytes, 0);
}

/** The parts of a key; undefined for one of another kind. */
export function placeOf(key: Key): Place | undefined {
  const bytes = bytesOf(key, KIND.place);
  return (
    bytes && {
      store: bytes.readBigUInt64LE(1),
      segment: bytes.readUInt32LE(9),
      offset: bytes.readUInt32LE(13),
      length: bytes.readUInt32LE(PLACE_LENGTH_AT),
      crc: bytes.readUInt32LE(21),
    }
  );
}

export function slotOf(key: Key): Slot | undefined {
  const bytes = bytesOf(key, KIND.slot);
  return (
    bytes && {
      store: bytes.readBigUInt64LE(1),
      class: bytes.readUInt8(9),
      slot: bytes.readUIntLE(10, 5),
      sequence: readU48(bytes, 15),
      birth: bytes.readUInt32LE(21),
      crc: bytes.readUInt32LE(25),
    }
  );
}

export function fileOf(key: Key): DataFile | undefined {
  const bytes = bytesOf(key, KIND.file);
  return (
    bytes && {
      store: bytes.readBigUInt64LE(1),
      number: readU48(bytes, 9),
      birth: bytes.readUInt32LE(15),
      version: readU48(bytes, 19),
    }
  );
}

export function digestOf(key: Key): Buffer | undefined {
  return bytesOf(key, KIND.hash)?.subarray(1);
}

function bytesOf(key: Key, kind: number): Buffer | undefined {
  return kindOf(key) === kind ? Buffer.from(key, 'latin1') : undefined;
}

import type { DirectoryObject } from '../../../../trees/format/directory-object.ts';
import { KIND } from '../../../../trees/format/keys.ts';
import { ENTRY_AT } from '../../../../trees/format/records.ts';

/** The 8 bytes of the number of a store, as its keys have them. */
export function storeBytes(store: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(store);
  return bytes;
}

/** Where keys of one store are in the bytes of an object. No record is decoded: a sweep reads millions. */
export function* localKeysIn(object: DirectoryObject, store: Buffer): Generator<number, void, void> {
  const { bytes, count, level } = object;
  for (let index = 0; index < count; index++) {
    const start = object.start(index);
    // In an item the key is behind the name.
    const at = level === 0 ? start + ENTRY_AT.key : start + 1 + bytes[start]!;
    if (bytes[at]! > KIND.hash && bytes.compare(store, 0, 8, at + 1, at + 9) === 0) yield at;
  }
}

import { type ByteString, fromBuffer } from '../../byte-string.ts';
import { type Entry, TYPE } from './entry.ts';
import { extensionBytes, noExtension, readExtension, TOTALS_AT, writeExtension } from './extension.ts';
import { readI48, readU48, writeI48, writeU48 } from './integers.ts';
import { KEY_BYTES, type Key, KIND, PLACE_LENGTH_AT, readKey, writeKey } from './keys.ts';
import { addPath, addTotals, ofOneName, readTotals, TOTALS_BYTES, type Totals, writeTotals } from './totals.ts';

/** A record of an index: one object of the level below. `name` is the first one in it. */
export interface Item {
  readonly name: ByteString;
  readonly key: Key;
  /** Entries of the directory that are in it. */
  readonly count: number;
  readonly totals: Totals;
}

export type DirectoryRecord = Entry | Item;

/** How one kind of record is laid out. Both begin with what is fixed, so that names and keys are found without decoding. */
export interface Layout<R extends DirectoryRecord> {
  readonly nameLengthAt: number;
  readonly nameAt: number;
  /** From the start of an entry; in an item from the end of its name. */
  size(record: R): number;
  write(bytes: Buffer, record: R, at: number): void;
  read(bytes: Buffer, at: number): R;
  addTo(totals: Totals, bytes: Buffer, at: number): void;
}

const KEY_AT = 38;
export const FLAGS_AT = 71;
export const ENTRY_FIXED = 72;
export const FLAG = { agentText: 1, extension: 2 } as const;
export const ENTRY_AT = {
  type: 0,
  nameLength: 1,
  mode: 2,
  nlink: 4,
  ino: 6,
  size: 12,
  mtime: 18,
  ctime: 28,
  key: KEY_AT,
} as const;

export const ENTRIES: Layout<Entry> = {
  nameLengthAt: ENTRY_AT.nameLength,
  nameAt: ENTRY_FIXED,

  size: (entry) => ENTRY_FIXED + entry.name.length + extensionBytes(entry),

  write(bytes, entry, at) {
    const extension = extensionBytes(entry) > 0;
    bytes.writeUInt8(entry.type, at);
    bytes.writeUInt8(entry.name.length, at + ENTRY_AT.nameLength);
    bytes.writeUInt16LE(entry.mode, at + ENTRY_AT.mode);
    bytes.writeUInt16LE(entry.nlink, at + ENTRY_AT.nlink);
    writeU48(bytes, entry.ino, at + ENTRY_AT.ino);
    writeU48(bytes, entry.size, at + ENTRY_AT.size);
    writeI48(bytes, entry.mtime, at + ENTRY_AT.mtime);
    bytes.writeUInt32LE(entry.mtimeNs, at + ENTRY_AT.mtime + 6);
    writeI48(bytes, entry.ctime, at + ENTRY_AT.ctime);
    bytes.writeUInt32LE(entry.ctimeNs, at + ENTRY_AT.ctime + 6);
    writeKey(bytes, entry.key, at + KEY_AT);
    bytes.writeUInt8((entry.agentText ? FLAG.agentText : 0) | (extension ? FLAG.extension : 0), at + FLAGS_AT);
    bytes.write(entry.name, at + ENTRY_FIXED, 'latin1');
    if (extension) writeExtension(bytes, entry, at + ENTRY_FIXED + entry.name.length);
  },

  read(bytes, at) {
    const nameEnd = at + ENTRY_FIXED + bytes.readUInt8(at + ENTRY_AT.nameLength);
    const flags = bytes.readUInt8(at + FLAGS_AT);
    const { totals, target, rdev, atime, owner, holes } =
      (flags & FLAG.extension) === 0 ? NO_EXTENSION : readExtension(bytes, nameEnd);
    return {
      name: fromBuffer(bytes, at + ENTRY_FIXED, nameEnd),
      type: bytes.readUInt8(at),
      mode: bytes.readUInt16LE(at + ENTRY_AT.mode),
      nlink: bytes.readUInt16LE(at + ENTRY_AT.nlink),
      ino: readU48(bytes, at + ENTRY_AT.ino),
      size: readU48(bytes, at + ENTRY_AT.size),
      mtime: readI48(bytes, at + ENTRY_AT.mtime),
      mtimeNs: bytes.readUInt32LE(at + ENTRY_AT.mtime + 6),
      ctime: readI48(bytes, at + ENTRY_AT.ctime),
      ctimeNs: bytes.readUInt32LE(at + ENTRY_AT.ctime + 6),
      key: readKey(bytes, at + KEY_AT),
      agentText: (flags & FLAG.agentText) !== 0,
      totals,
      target,
      rdev,
      atime,
      owner,
      holes,
    };
  },

  addTo(totals, bytes, at) {
    const nameLength = bytes.readUInt8(at + ENTRY_AT.nameLength);
    const kind = bytes.readUInt8(at + KEY_AT);
    if (bytes[at] === TYPE.directory) {
      const below = readTotals(bytes, at + ENTRY_FIXED + nameLength + TOTALS_AT);
      totals.directories++;
      addTotals(totals, below);
      addPath(totals, below.longest === 0 ? nameLength : nameLength + 1 + below.longest);
      addObject(totals, bytes, at + KEY_AT);
      return;
    }
    const size = readU48(bytes, at + ENTRY_AT.size);
    totals.files++;
    totals.bytes += size;
    const nlink = bytes.readUInt16LE(at + ENTRY_AT.nlink);
    if (nlink > 1) totals.linked++;
    if (kind > KIND.hash) {
      totals.ownEntries++;
      totals.ownBytes += ofOneName(size - holesOf(bytes, at, nameLength), nlink);
    }
    addPath(totals, nameLength);
  },
};

function holesOf(bytes: Buffer, at: number, nameLength: number): number {
  if ((bytes.readUInt8(at + FLAGS_AT) & FLAG.extension) === 0) return 0;
  return readExtension(bytes, at + ENTRY_FIXED + nameLength).holes ?? 0;
}

/** After the name: key, u32 count, totals. */
const ITEM_FIXED = KEY_BYTES + 4 + TOTALS_BYTES;

export const ITEMS: Layout<Item> = {
  nameLengthAt: 0,
  nameAt: 1,

  size: (item) => 1 + item.name.length + ITEM_FIXED,

  write(bytes, { name, key, count, totals }, at) {
    const keyAt = at + 1 + name.length;
    bytes.writeUInt8(name.length, at);
    bytes.write(name, at + 1, 'latin1');
    writeKey(bytes, key, keyAt);
    bytes.writeUInt32LE(count, keyAt + KEY_BYTES);
    writeTotals(bytes, totals, keyAt + KEY_BYTES + 4);
  },

  read(bytes, at) {
    const keyAt = at + 1 + bytes.readUInt8(at);
    return {
      name: fromBuffer(bytes, at + 1, keyAt),
      key: readKey(bytes, keyAt),
      count: bytes.readUInt32LE(keyAt + KEY_BYTES),
      totals: readTotals(bytes, keyAt + KEY_BYTES + 4),
    };
  },

  addTo(totals, bytes, at) {
    const keyAt = at + 1 + bytes.readUInt8(at);
    const below = readTotals(bytes, keyAt + KEY_BYTES + 4);
    addTotals(totals, below);
    addPath(totals, below.longest);
    addObject(totals, bytes, keyAt);
  },
};

/** Entries in an item, without decoding it. */
export function countOfItem(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at + 1 + bytes.readUInt8(at) + KEY_BYTES);
}

/** An object in a sandbox's store counts as its own, with its length. */
function addObject(totals: Totals, bytes: Buffer, keyAt: number): void {
  if (bytes[keyAt] !== KIND.place) return;
  totals.ownEntries++;
  totals.ownBytes += bytes.readUInt32LE(keyAt + PLACE_LENGTH_AT);
}

const NO_EXTENSION = noExtension();

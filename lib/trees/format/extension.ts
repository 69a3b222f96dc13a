import { type ByteString, fromBuffer } from '../../byte-string.ts';
import { type Entry, TYPE } from './entry.ts';
import { FormatError, require } from './format-error.ts';
import { readI48, readU48, writeI48, writeU48 } from './integers.ts';
import { MAX_TARGET } from './limits.ts';
import { readTotals, TOTALS_BYTES, type Totals, writeTotals } from './totals.ts';

/**
 * What only some entries have, after the name: u16 length, then items `u8 tag, u16 length, bytes`, by ascending tags. What
 * a type always has comes first, so that the totals of a directory have a fixed place.
 */
export interface Extension {
  totals: Totals | undefined;
  target: ByteString | undefined;
  rdev: number | undefined;
  atime: Entry['atime'];
  owner: Entry['owner'];
  holes: number | undefined;
}

const TAG = { totals: 1, target: 2, rdev: 3, atime: 4, owner: 5, holes: 6 } as const;
const LENGTH = 2;
const ITEM = 3;
const ATIME_BYTES = 10;
const HOLES_BYTES = 6;
/** Where the totals of a directory are, after its name. */
export const TOTALS_AT = LENGTH + ITEM;

/** The tag that each entry of a type has. */
const ALWAYS: ReadonlyMap<number, number> = new Map([
  [TYPE.directory, TAG.totals],
  [TYPE.symlink, TAG.target],
  [TYPE.characterDevice, TAG.rdev],
  [TYPE.blockDevice, TAG.rdev],
]);

/** Of items that have the same length always. */
const LENGTHS: Readonly<Record<number, number>> = {
  [TAG.totals]: TOTALS_BYTES,
  [TAG.rdev]: 4,
  [TAG.atime]: ATIME_BYTES,
  [TAG.owner]: 8,
  [TAG.holes]: HOLES_BYTES,
};

/** Including the length itself; 0: there is none. */
export function extensionBytes({ totals, target, rdev, atime, owner, holes }: Extension): number {
  const items =
    (totals ? ITEM + TOTALS_BYTES : 0) +
    (target === undefined ? 0 : ITEM + target.length) +
    (rdev === undefined ? 0 : ITEM + 4) +
    (atime ? ITEM + ATIME_BYTES : 0) +
    (owner ? ITEM + 8 : 0) +
    (holes === undefined ? 0 : ITEM + HOLES_BYTES);
  return items === 0 ? 0 : LENGTH + items;
}

export function writeExtension(bytes: Buffer, extension: Extension, start: number): void {
  const { totals, target, rdev, atime, owner, holes } = extension;
  bytes.writeUInt16LE(extensionBytes(extension) - LENGTH, start);
  let at = start + LENGTH;
  const item = (tag: number, length: number): number => {
    bytes.writeUInt8(tag, at);
    bytes.writeUInt16LE(length, at + 1);
    at += ITEM + length;
    return at - length;
  };
  if (totals) writeTotals(bytes, totals, item(TAG.totals, TOTALS_BYTES));
  if (target !== undefined) bytes.write(target, item(TAG.target, target.length), 'latin1');
  if (rdev !== undefined) bytes.writeUInt32LE(rdev, item(TAG.rdev, 4));
  if (atime) {
    const place = item(TAG.atime, ATIME_BYTES);
    writeI48(bytes, atime.s, place);
    bytes.writeUInt32LE(atime.ns, place + 6);
  }
  if (owner) {
    const place = item(TAG.owner, 8);
    bytes.writeUInt32LE(owner.uid, place);
    bytes.writeUInt32LE(owner.gid, place + 4);
  }
  if (holes !== undefined) writeU48(bytes, holes, item(TAG.holes, HOLES_BYTES));
}

export function readExtension(bytes: Buffer, start: number): Extension {
  const extension: Extension = noExtension();
  const end = start + LENGTH + bytes.readUInt16LE(start);
  for (let at = start + LENGTH; at < end; ) {
    const length = bytes.readUInt16LE(at + 1);
    readItem(extension, bytes, bytes.readUInt8(at), at + ITEM, length);
    at += ITEM + length;
  }
  return extension;
}

/** The length of the target of a symlink, whose extension starts here. */
export function targetBytes(bytes: Buffer, start: number): number {
  return bytes.readUInt16LE(start + LENGTH + 1);
}

export function noExtension(): Extension {
  return {
    totals: undefined,
    target: undefined,
    rdev: undefined,
    atime: undefined,
    owner: undefined,
    holes: undefined,
  };
}

function readItem(into: Extension, bytes: Buffer, tag: number, at: number, length: number): void {
  if (tag === TAG.totals) into.totals = readTotals(bytes, at);
  else if (tag === TAG.target) into.target = fromBuffer(bytes, at, at + length);
  else if (tag === TAG.rdev) into.rdev = bytes.readUInt32LE(at);
  else if (tag === TAG.atime) into.atime = { s: readI48(bytes, at), ns: bytes.readUInt32LE(at + 6) };
  else if (tag === TAG.holes) into.holes = readU48(bytes, at);
  else into.owner = { uid: bytes.readUInt32LE(at), gid: bytes.readUInt32LE(at + 4) };
}

/** What an entry without extension must not be. */
export function checkNoExtension(type: number): void {
  if (ALWAYS.has(type)) throw new FormatError(`type ${type} without what it always has`);
}

/** Refuses items that do not belong to the type. Answers with the end. */
export function checkExtension(bytes: Buffer, type: number, start: number, limit: number): number {
  const always = ALWAYS.get(type);
  require(start + LENGTH <= limit, 'its extension is longer than the records');
  const end = start + LENGTH + bytes.readUInt16LE(start);
  require(end <= limit && end > start + LENGTH, 'an extension of a wrong length');
  let last = 0;
  for (let at = start + LENGTH; at < end; ) {
    require(at + ITEM <= end, 'an extension that ends within an item');
    const tag = bytes.readUInt8(at);
    const length = bytes.readUInt16LE(at + 1);
    require(at + ITEM + length <= end, 'an item that is longer than its extension');
    if (!(tag > last && tag <= TAG.holes)) throw new FormatError(`tag ${tag} after ${last}`);
    if (!(tag === always || (tag >= TAG.atime && (last > 0 || always === undefined))))
      throw new FormatError(`type ${type} with tag ${tag}`);
    require(tag !== TAG.holes || type === TYPE.file, 'holes of what is no file');
    checkItem(bytes, tag, at + ITEM, length);
    last = tag;
    at += ITEM + length;
  }
  return end;
}

function checkItem(bytes: Buffer, tag: number, at: number, length: number): void {
  if (tag === TAG.target) {
    if (!(length > 0 && length <= MAX_TARGET)) throw new FormatError(`a target of ${length} bytes`);
    require(!bytes.subarray(at, at + length).includes(0), 'a target with a NUL');
    return;
  }
  const expected = LENGTHS[tag];
  if (!(length === expected)) throw new FormatError(`an item with tag ${tag} of ${length} bytes`);
  if (tag === TAG.atime) require(bytes.readUInt32LE(at + 6) < 1_000_000_000, 'a time with too many nanoseconds');
}

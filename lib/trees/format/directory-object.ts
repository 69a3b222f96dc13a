import { type ByteString, fromBuffer } from '../../byte-string.ts';
import type { Entry } from './entry.ts';
import { countOfItem, type DirectoryRecord, ENTRIES, ITEMS, type Item, type Layout } from './records.ts';
import { readTotals, type Totals } from './totals.ts';

/** Header: `0 PDIR`, `4 u8 format`, `5 u8 level`, `6 u16 0`, `8 u32 count`, `12 u32 place of the table`, `16 totals`. */
export const HEADER = {
  magic: 0,
  format: 4,
  level: 5,
  reserved: 6,
  count: 8,
  table: 12,
  totals: 16,
  bytes: 48,
} as const;
export const MAGIC = 'PDIR';
export const FORMAT = 2;
/** Of an offset in the table. */
export const OFFSET_BYTES = 4;

/**
 * The bytes of one immutable object, searched as they are. Level 0 has entries; a level above has items, each of which is
 * an object of the level below. The records are in ascending order of their names, and a table has their offsets. Not
 * checked: `parseObject` is for bytes that were not made here.
 */
export class DirectoryObject {
  readonly bytes: Buffer;
  readonly level: number;
  readonly count: number;
  readonly layout: Layout<Entry> | Layout<Item>;
  readonly #table: number;
  #totals: Totals | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.level = bytes.readUInt8(HEADER.level);
    this.count = bytes.readUInt32LE(HEADER.count);
    this.layout = this.level === 0 ? ENTRIES : ITEMS;
    this.#table = bytes.readUInt32LE(HEADER.table);
  }

  get totals(): Totals {
    this.#totals ??= readTotals(this.bytes, HEADER.totals);
    return this.#totals;
  }

  /** Entries of the directory in it and in what is below it. */
  get entries(): number {
    if (this.level === 0) return this.count;
    let entries = 0;
    for (let index = 0; index < this.count; index++) entries += countOfItem(this.bytes, this.start(index));
    return entries;
  }

  /** Where a record starts; that of `count` is the end of the last one. */
  start(index: number): number {
    return index === this.count ? this.#table : this.bytes.readUInt32LE(this.#table + index * OFFSET_BYTES);
  }

  nameAt(index: number): ByteString {
    const start = this.#nameStart(index);
    return fromBuffer(this.bytes, start, start + this.#nameLength(index));
  }

  /** Only of level 0. */
  entry(index: number): Entry {
    return ENTRIES.read(this.bytes, this.start(index));
  }

  /** Only above level 0. */
  item(index: number): Item {
    return ITEMS.read(this.bytes, this.start(index));
  }

  record(index: number): DirectoryRecord {
    return this.layout.read(this.bytes, this.start(index));
  }

  /** The index of the name, or -1 - that of the first larger one. */
  find(name: ByteString): number {
    let [low, high] = [0, this.count - 1];
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const order = this.compareAt(middle, name);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1 - low;
  }

  /** The index of the last name that is not larger; 0 if all are. */
  floor(name: ByteString): number {
    const index = this.find(name);
    return index >= 0 ? index : Math.max(0, -2 - index);
  }

  /** Below 0 if the name of the record comes first. */
  compareAt(index: number, name: ByteString): number {
    const { bytes, layout } = this;
    const start = this.start(index);
    const length = bytes[start + layout.nameLengthAt]!;
    const nameAt = start + layout.nameAt;
    const common = Math.min(length, name.length);
    for (let at = 0; at < common; at++) {
      const order = bytes[nameAt + at]! - name.charCodeAt(at);
      if (order !== 0) return order;
    }
    return length - name.length;
  }

  /** Below 0 if the name of the record comes before that of a record of another object. */
  compareNames(index: number, other: DirectoryObject, otherIndex: number): number {
    const start = this.#nameStart(index);
    const otherStart = other.#nameStart(otherIndex);
    const end = start + this.#nameLength(index);
    const otherEnd = otherStart + other.#nameLength(otherIndex);
    return this.bytes.compare(other.bytes, otherStart, otherEnd, start, end);
  }

  /** Whether a record has the same bytes as one of another object of the same level. */
  equalRecords(index: number, other: DirectoryObject, otherIndex: number): boolean {
    const [start, end] = [this.start(index), this.start(index + 1)];
    const [otherStart, otherEnd] = [other.start(otherIndex), other.start(otherIndex + 1)];
    if (end - start !== otherEnd - otherStart) return false;
    return this.bytes.compare(other.bytes, otherStart, otherEnd, start, end) === 0;
  }

  #nameStart(index: number): number {
    return this.start(index) + this.layout.nameAt;
  }

  #nameLength(index: number): number {
    return this.bytes.readUInt8(this.start(index) + this.layout.nameLengthAt);
  }
}

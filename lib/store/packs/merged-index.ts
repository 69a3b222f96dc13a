import { crc32 } from 'node:zlib';
import type { Key } from '../../trees/format/keys.ts';
import { compareAt, firstRow } from './index-rows.ts';
import type { PackPlace } from './open-pack.ts';
import { quietly } from './pack.ts';

/**
 * The indexes of many sealed packs in one file: a look-up is one read. Its name is random, and no other file gets it: readers in
 * other threads keep what they know of it. `0 magic`, `8 u32 packs`, `12 u32 rows`, `16 u32 crc` of
 * all up to the rows but for itself; the names of the packs, 16 bytes each; a fan-out of 65,536 u32 by the first two bytes;
 * then rows: `0 digest`, `32 u32 pack`, `36 u32 offset`, `40 u32 length`. A cache: without it, or with rows that are damaged,
 * the packs' own indexes are used.
 */
export const MERGED_MAGIC = Buffer.from('PDKMERG1');
export const MERGED_AT = { packs: 8, rows: 12, crc: 16, names: 20 } as const;
export const MERGED_ROW_BYTES = 44;
export const MERGED_ROW = { pack: 32, offset: 36, length: 40 } as const;
export const NAME_BYTES = 16;
const FAN_OUT = 65_536;
export const MERGED_FAN_OUT_BYTES = FAN_OUT * 4;

export interface MergedRow {
  readonly pack: string;
  readonly offset: number;
  readonly length: number;
}

export class MergedIndex {
  readonly name: string;
  readonly packs: readonly string[];
  readonly #place: PackPlace;
  readonly #fanOut: Buffer;
  readonly #rowsAt: number;
  readonly #rows: number;

  private constructor(place: PackPlace, name: string, head: Buffer) {
    this.name = name;
    this.#place = place;
    this.#rows = head.readUInt32LE(MERGED_AT.rows);
    this.#rowsAt = head.length;
    const fanOutAt = head.length - MERGED_FAN_OUT_BYTES;
    this.#fanOut = head.subarray(fanOutAt);
    const names: string[] = [];
    for (let at: number = MERGED_AT.names; at < fanOutAt; at += NAME_BYTES)
      names.push(head.toString('hex', at, at + NAME_BYTES));
    this.packs = names;
  }

  /** undefined: it cannot be used. */
  static open(place: PackPlace, name: string): MergedIndex | undefined {
    let index: MergedIndex | undefined;
    quietly(() => {
      const head = readHead(place, name);
      if (head !== undefined) index = new MergedIndex(place, name, head);
    });
    return index;
  }

  /** All rows of the object: it may be in several packs. */
  find(key: Key): MergedRow[] {
    const found: MergedRow[] = [];
    const prefix = (key.charCodeAt(1) << 8) | key.charCodeAt(2);
    const from = prefix === 0 ? 0 : this.#fanOut.readUInt32LE((prefix - 1) * 4);
    const to = Math.min(this.#rows, this.#fanOut.readUInt32LE(prefix * 4));
    const rows = Buffer.allocUnsafe(Math.max(0, to - from) * MERGED_ROW_BYTES);
    const { disk, files } = this.#place;
    const read = disk.pread(files.fd(mergedPath(this.#place, this.name)), rows, this.#rowsAt + from * MERGED_ROW_BYTES);
    for (let at = firstRow(rows, MERGED_ROW_BYTES, key) * MERGED_ROW_BYTES; at + MERGED_ROW_BYTES <= read; ) {
      if (compareAt(rows, at, key) !== 0) break;
      const pack = this.packs[rows.readUInt32LE(at + MERGED_ROW.pack)];
      const offset = rows.readUInt32LE(at + MERGED_ROW.offset);
      if (pack !== undefined) found.push({ pack, offset, length: rows.readUInt32LE(at + MERGED_ROW.length) });
      at += MERGED_ROW_BYTES;
    }
    return found;
  }
}

export function mergedPath({ folder }: PackPlace, name: string): string {
  return `${folder}/${name}`;
}

export function mergedCrc(head: Buffer): number {
  return crc32(head.subarray(MERGED_AT.names), crc32(head.subarray(0, MERGED_AT.crc)));
}

/** All up to the rows. */
function readHead(place: PackPlace, name: string): Buffer | undefined {
  const { disk, files } = place;
  const fd = files.fd(mergedPath(place, name));
  const fixed = Buffer.alloc(MERGED_AT.names);
  if (disk.pread(fd, fixed, 0) < fixed.length) return undefined;
  if (fixed.compare(MERGED_MAGIC, 0, MERGED_MAGIC.length, 0, MERGED_MAGIC.length) !== 0) return undefined;
  const packs = fixed.readUInt32LE(MERGED_AT.packs);
  const length = fixed.length + packs * NAME_BYTES + MERGED_FAN_OUT_BYTES;
  if (length + fixed.readUInt32LE(MERGED_AT.rows) * MERGED_ROW_BYTES !== disk.size(fd)) return undefined;
  const head = Buffer.allocUnsafeSlow(length);
  disk.pread(fd, head, 0);
  return mergedCrc(head) === head.readUInt32LE(MERGED_AT.crc) ? head : undefined;
}

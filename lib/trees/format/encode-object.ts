import { DirectoryObject, FORMAT, HEADER, MAGIC, OFFSET_BYTES } from './directory-object.ts';
import { type DirectoryRecord, ENTRIES, ITEMS, type Layout } from './records.ts';
import { sumTotals } from './sum-totals.ts';
import { writeTotals } from './totals.ts';

/** Records of an object from one index to before another: their bytes are copied as they are. */
export class Range {
  readonly object: DirectoryObject;
  readonly from: number;
  readonly to: number;

  constructor(object: DirectoryObject, from = 0, to = object.count) {
    this.object = object;
    this.from = from;
    this.to = to;
  }
}

/** A new record, or records of an object of the same level. */
export type Piece = DirectoryRecord | Range;

/** The object of records in ascending order, at least one. */
export function encodeObject(level: number, pieces: readonly Piece[]): DirectoryObject {
  const layout = (level === 0 ? ENTRIES : ITEMS) as Layout<DirectoryRecord>;
  let [length, count]: [number, number] = [HEADER.bytes, 0];
  for (const piece of pieces) {
    if (piece instanceof Range) {
      length += piece.object.start(piece.to) - piece.object.start(piece.from);
      count += piece.to - piece.from;
    } else {
      length += layout.size(piece);
      count++;
    }
  }
  const bytes = Buffer.allocUnsafeSlow(length + count * OFFSET_BYTES);
  bytes.write(MAGIC, HEADER.magic, 'latin1');
  bytes.writeUInt8(FORMAT, HEADER.format);
  bytes.writeUInt8(level, HEADER.level);
  bytes.writeUInt16LE(0, HEADER.reserved);
  bytes.writeUInt32LE(count, HEADER.count);
  bytes.writeUInt32LE(length, HEADER.table);
  writePieces(bytes, layout, pieces, length);
  const object = new DirectoryObject(bytes);
  writeTotals(bytes, sumTotals(object), HEADER.totals);
  return object;
}

function writePieces(bytes: Buffer, layout: Layout<DirectoryRecord>, pieces: readonly Piece[], table: number): void {
  let at: number = HEADER.bytes;
  let offsetAt = table;
  for (const piece of pieces) {
    if (piece instanceof Range) {
      const { object, from, to } = piece;
      const [start, end] = [object.start(from), object.start(to)];
      object.bytes.copy(bytes, at, start, end);
      for (let index = from; index < to; index++, offsetAt += OFFSET_BYTES)
        bytes.writeUInt32LE(object.start(index) - start + at, offsetAt);
      at += end - start;
    } else {
      layout.write(bytes, piece, at);
      bytes.writeUInt32LE(at, offsetAt);
      at += layout.size(piece);
      offsetAt += OFFSET_BYTES;
    }
  }
}

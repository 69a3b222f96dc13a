import type { ByteString } from '../../byte-string.ts';
import type { DirectoryObject } from '../format/directory-object.ts';
import { type Piece, Range } from '../format/encode-object.ts';
import type { DirectoryRecord } from '../format/records.ts';

/** A name and its record from now on; undefined: none. */
export type Change<R extends DirectoryRecord = DirectoryRecord> = readonly [name: ByteString, record: R | undefined];

/** The records of an object after changes, which are in ascending order. What is not changed stays as ranges. */
export function* changedPieces(object: DirectoryObject, changes: readonly Change[]): Generator<Piece, void, void> {
  let from = 0;
  for (const [name, record] of changes) {
    const found = object.find(name);
    const to = found < 0 ? -1 - found : found;
    if (from < to) yield new Range(object, from, to);
    if (record !== undefined) yield record;
    from = found < 0 ? to : to + 1;
  }
  if (from < object.count) yield new Range(object, from);
}

export function countOf(pieces: readonly Piece[]): number {
  let count = 0;
  for (const piece of pieces) count += piece instanceof Range ? piece.to - piece.from : 1;
  return count;
}

export function byName(a: Change, b: Change): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
}

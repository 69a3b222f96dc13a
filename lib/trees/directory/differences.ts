import type { ByteString } from '../../byte-string.ts';
import type { Entry } from '../format/entry.ts';
import type { Key } from '../format/keys.ts';
import { Position } from './position.ts';
import type { Source } from './source.ts';

export interface Difference {
  readonly name: ByteString;
  readonly a: Entry | undefined;
  readonly b: Entry | undefined;
}

/**
 * The names of two directories whose entries do not have the same bytes, ascending. Objects that both have are not read:
 * this costs as much as what differs.
 */
export function* differences(source: Source, a: Key, b: Key): Generator<Difference, void, void> {
  if (a === b) return;
  const [left, right] = [new Position(source, a), new Position(source, b)];
  while (!left.done || !right.done) {
    if (equal(left, right)) {
      left.skip();
      right.skip();
      continue;
    }
    const order = left.done ? 1 : right.done ? -1 : left.object.compareNames(left.index, right.object, right.index);
    if (order < 0) {
      if (left.level > 0) left.open();
      else yield only('a', left);
    } else if (order > 0) {
      if (right.level > 0) right.open();
      else yield only('b', right);
    } else if (left.level !== right.level) {
      (left.level > right.level ? left : right).open();
    } else if (left.level > 0) {
      left.open();
      right.open();
    } else {
      const entries = { a: left.object.entry(left.index), b: right.object.entry(right.index) };
      yield { name: entries.a.name, ...entries };
      left.skip();
      right.skip();
    }
  }
}

/** Most records are equal: this needs no order of their names. */
function equal(left: Position, right: Position): boolean {
  if (left.done || right.done || left.level !== right.level) return false;
  return left.object.equalRecords(left.index, right.object, right.index);
}

function only(side: 'a' | 'b', position: Position): Difference {
  const entry = position.object.entry(position.index);
  position.skip();
  return side === 'a' ? { name: entry.name, a: entry, b: undefined } : { name: entry.name, a: undefined, b: entry };
}

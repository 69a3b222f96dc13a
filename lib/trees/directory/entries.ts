import type { ByteString } from '../../byte-string.ts';
import type { Entry } from '../format/entry.ts';
import { type Key, NO_KEY } from '../format/keys.ts';
import { Position } from './position.ts';
import type { Source } from './source.ts';

/** The entries of a directory by ascending names; with `after`, those whose names are larger. */
export function* entriesOf(source: Source, directory: Key, after?: ByteString): Generator<Entry, void, void> {
  if (directory === NO_KEY) return;
  const position = new Position(source, directory);
  if (after !== undefined) {
    position.seek(after, 0);
    if (position.object.compareAt(position.index, after) <= 0) position.skip();
  }
  while (!position.done) {
    if (position.level > 0) {
      position.open();
    } else {
      yield position.object.entry(position.index);
      position.skip();
    }
  }
}

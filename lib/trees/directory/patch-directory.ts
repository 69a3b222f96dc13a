import type { DirectoryObject } from '../format/directory-object.ts';
import { encodeObject, type Piece, Range } from '../format/encode-object.ts';
import type { Entry } from '../format/entry.ts';
import { type Key, NO_KEY } from '../format/keys.ts';
import { MAX_RECORDS, MIN_RECORDS } from '../format/limits.ts';
import type { Item } from '../format/records.ts';
import { noTotals, type Totals } from '../format/totals.ts';
import { Chunks } from './chunks.ts';
import { byName, type Change, changedPieces, countOf } from './pieces.ts';
import { Position } from './position.ts';
import { loadBelow, type Sink, type Source } from './source.ts';

/** What the entry of a directory says of what is in it. */
export interface Listed {
  readonly key: Key;
  readonly size: number;
  readonly totals: Totals;
}

/** The most objects that a level may have whose records fit into one: all but the last have at least MIN_RECORDS. */
const MAX_TO_JOIN = MAX_RECORDS / MIN_RECORDS + 1;

/**
 * The directory with some names changed; the changes are in ascending order, one a name. Objects in which nothing changes
 * are neither read nor written. The result depends on the entries and the seed alone, not on the directory that was changed.
 */
export function patchDirectory(source: Source, sink: Sink, directory: Key, changes: readonly Change<Entry>[]): Listed {
  if (directory === NO_KEY) return build(source, sink, 0, added(changes));
  const root = source.load(directory);
  let below: readonly Change[] = changes;
  for (let level = 0; level < root.level; level++) below = changeLevel(source, sink, directory, level, below);
  return build(source, sink, root.level, [...changedPieces(root, below)]);
}

function added(changes: readonly Change<Entry>[]): Entry[] {
  return changes.flatMap(([, entry]) => entry ?? []);
}

/** Changes objects of a level below the root. Answers with the changes of the level above. */
function changeLevel(
  source: Source,
  sink: Sink,
  directory: Key,
  level: number,
  changes: readonly Change[],
): readonly Change[] {
  const above = new Map<Item['name'], Item | undefined>();
  const position = new Position(source, directory);
  const chunks = new Chunks(sink.seed, (pieces) => {
    const item = itemOf(sink, encodeObject(level, pieces));
    above.set(item.name, item);
  });
  for (let next = 0; next < changes.length; ) {
    position.seek(changes[next]![0], level + 1);
    // From the object with the change on, until one ends where one ended before: from there on all are the same.
    do {
      const { name } = position;
      const object = loadBelow(source, position.object, position.index);
      if (!above.has(name)) above.set(name, undefined);
      position.skip();
      while (!position.done && position.level > level + 1) position.open();
      const first = next;
      while (next < changes.length && (position.done || changes[next]![0] < position.name)) next++;
      for (const piece of changedPieces(object, changes.slice(first, next))) chunks.add(piece);
    } while (!chunks.between && !position.done);
    chunks.end();
  }
  return [...above].sort(byName);
}

/** A directory of these records, with as many levels as they need. */
function build(source: Source, sink: Sink, level: number, pieces: readonly Piece[]): Listed {
  const count = countOf(pieces);
  if (count === 0) return { key: NO_KEY, size: 0, totals: noTotals() };
  if (count <= MAX_RECORDS) return joined(source, sink, encodeObject(level, pieces));
  const items: Item[] = [];
  const chunks = new Chunks(sink.seed, (records) => items.push(itemOf(sink, encodeObject(level, records))));
  for (const piece of pieces) chunks.add(piece);
  chunks.end();
  return build(source, sink, level + 1, items);
}

/** The directory of a root object, or of one of the level below if that holds all records. */
function joined(source: Source, sink: Sink, root: DirectoryObject): Listed {
  if (root.level > 0 && root.count <= MAX_TO_JOIN) {
    const below = Array.from({ length: root.count }, (_, index) => loadBelow(source, root, index));
    const pieces = below.map((object) => new Range(object));
    if (countOf(pieces) <= MAX_RECORDS) return build(source, sink, root.level - 1, pieces);
  }
  return { key: sink.put(root), size: root.entries, totals: root.totals };
}

function itemOf(sink: Sink, object: DirectoryObject): Item {
  return { name: object.nameAt(0), key: sink.put(object), count: object.entries, totals: object.totals };
}

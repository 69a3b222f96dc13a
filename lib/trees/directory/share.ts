import type { DirectoryObject } from '../format/directory-object.ts';
import { type Key, NO_KEY } from '../format/keys.ts';
import { Position } from './position.ts';
import { loadBelow, type Sink, type Source } from './source.ts';

/**
 * A sink for a directory that may become equal to others: of an object that one of them has, too, that one's key is used.
 * So a sandbox that has come to agree with its codebase again has the codebase's objects.
 */
export function sharing(source: Source, sink: Sink, directories: readonly Key[]): Sink {
  const others = directories.filter((key) => key !== NO_KEY);
  if (others.length === 0) return sink;
  return {
    seed: sink.seed,
    put(object) {
      for (const directory of others) {
        const key = keyOfEqual(source, directory, object);
        if (key !== undefined) return key;
      }
      return sink.put(object);
    },
  };
}

function keyOfEqual(source: Source, directory: Key, object: DirectoryObject): Key | undefined {
  const root = source.load(directory);
  if (root.level < object.level) return undefined;
  if (root.level === object.level) return root.bytes.equals(object.bytes) ? directory : undefined;
  const name = object.nameAt(0);
  const position = new Position(source, directory);
  position.seek(name, object.level + 1);
  const item = position.object.item(position.index);
  if (item.name !== name || item.count !== object.entries) return undefined;
  return loadBelow(source, position.object, position.index).bytes.equals(object.bytes) ? item.key : undefined;
}

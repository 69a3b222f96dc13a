import type { ByteString } from '../../byte-string.ts';
import { type Key, NO_KEY } from '../format/keys.ts';
import { countOfItem } from '../format/records.ts';
import { loadBelow, type Source } from './source.ts';

/** How many names of a directory come before a name, and whether it has the name itself. */
export function rankOf(source: Source, directory: Key, name: ByteString): { rank: number; has: boolean } {
  if (directory === NO_KEY) return { rank: 0, has: false };
  let object = source.load(directory);
  let before = 0;
  while (object.level > 0) {
    const at = object.floor(name);
    for (let index = 0; index < at; index++) before += countOfItem(object.bytes, object.start(index));
    object = loadBelow(source, object, at);
  }
  const index = object.find(name);
  return index < 0 ? { rank: before - 1 - index, has: false } : { rank: before + index, has: true };
}

/** The name that so many names come before; undefined: there are not that many. */
export function nameAtRank(source: Source, directory: Key, rank: number): ByteString | undefined {
  if (directory === NO_KEY) return undefined;
  let object = source.load(directory);
  let left = rank;
  while (object.level > 0) {
    let index = 0;
    for (; index < object.count; index++) {
      const count = countOfItem(object.bytes, object.start(index));
      if (left < count) break;
      left -= count;
    }
    if (index === object.count) return undefined;
    object = loadBelow(source, object, index);
  }
  return left < object.count ? object.nameAt(left) : undefined;
}

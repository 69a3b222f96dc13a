import { type ByteString, joinPath, ROOT_PATH } from '../../../../byte-string.ts';
import type { Source } from '../../../../trees/directory/source.ts';
import { TYPE } from '../../../../trees/format/entry.ts';
import { type Key, placeOf } from '../../../../trees/format/keys.ts';

/**
 * The paths of the directories of a tree that have objects in these segments of a store. Made own, they are written anew by
 * the next freeze, and the segments are garbage after it. In steps; throws AbsentObject.
 */
export function* directoriesIn(
  source: Source,
  store: bigint,
  root: Key,
  segments: ReadonlySet<number>,
): Generator<void, ByteString[], void> {
  const found = new Set<ByteString>();
  const unread: [path: ByteString, key: Key][] = [[ROOT_PATH, root]];
  for (let next = unread.pop(); next !== undefined; next = unread.pop()) {
    const [path, key] = next;
    const place = placeOf(key);
    if (place?.store !== store) continue;
    if (segments.has(place.segment)) found.add(path);
    const object = source.load(key);
    for (let index = 0; index < object.count; index++) {
      if (object.level > 0) unread.push([path, object.item(index).key]);
      else if (object.bytes[object.start(index)] === TYPE.directory) {
        const entry = object.entry(index);
        unread.push([joinPath(path, entry.name), entry.key]);
      }
    }
    yield;
  }
  return [...found];
}

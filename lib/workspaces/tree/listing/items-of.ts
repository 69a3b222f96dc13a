import type { ByteString } from '../../../byte-string.ts';
import { entriesOf } from '../../../trees/directory/entries.ts';
import type { Source } from '../../../trees/directory/source.ts';
import { type Directory, type Item, OwnDirectory } from '../items.ts';

/** The names after `after`, ascending, those of the object and of the patch; null: removed. */
export function* itemsOf(
  source: Source,
  directory: Directory,
  after?: ByteString,
): Generator<[name: ByteString, item: Item | null], void, void> {
  if (!(directory instanceof OwnDirectory)) {
    for (const entry of entriesOf(source, directory.key, after)) yield [entry.name, entry];
    return;
  }
  const { patch, sorted } = directory;
  let next = after === undefined ? 0 : firstAfter(sorted, after);
  for (const entry of entriesOf(source, directory.entry.key, after)) {
    for (let name = sorted[next]; name !== undefined && name < entry.name; name = sorted[++next])
      yield [name, patch.get(name)!];
    if (sorted[next] === entry.name) yield [entry.name, patch.get(sorted[next++]!)!];
    else yield [entry.name, entry];
  }
  for (; next < sorted.length; next++) yield [sorted[next]!, patch.get(sorted[next]!)!];
}

function firstAfter(sorted: readonly ByteString[], name: ByteString): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! > name) high = middle;
    else low = middle + 1;
  }
  return low;
}

import { type ByteString, baseNameOf, parentOf, splitPath } from '../../../byte-string.ts';
import { EISDIR, ENOENT } from '../../../linux/errno.ts';
import type { Entry } from '../../../trees/format/entry.ts';
import { isDirectoryItem, OwnDirectory, OwnFile } from '../items.ts';
import type { LiveTree } from '../live-tree.ts';
import type { Place } from '../place.ts';

/** The file of a name, which may change from now on, with all its names. Nothing that can be seen changes. */
export function thaw(tree: LiveTree, dir: OwnDirectory, name: ByteString): OwnFile {
  const known = dir.patch.get(name);
  if (known instanceof OwnFile) return known;
  const place = tree.place(dir, name);
  const { item } = place;
  if (item === undefined) throw ENOENT;
  if (item instanceof OwnFile || isDirectoryItem(item)) throw EISDIR;
  return thawAt(tree, item, item.nlink > 1 ? [place, ...otherPlaces(tree, place, item)] : [place]);
}

/** `places`: all that have the file. */
export function thawAt({ counters }: LiveTree, entry: Entry, places: readonly Place[]): OwnFile {
  const file = new OwnFile(
    { ...entry, nlink: places.length },
    places.map(({ dir, name }) => ({ dir, name })),
  );
  for (const place of places) {
    counters.remove(place.item as Entry);
    place.set(file);
  }
  counters.add(file.entry, places.length);
  return file;
}

/** The directories of the other names become own: each of them gets another link count with the next change. */
function otherPlaces(tree: LiveTree, first: Place, { ino }: Entry): Place[] {
  const places: Place[] = [];
  for (const path of tree.linkPaths.of(tree.root, ino)) {
    const place = placeAt(tree, path);
    const item = place?.item;
    if (place === undefined || item === undefined || item instanceof OwnFile || isDirectoryItem(item)) continue;
    const same = place.dir === first.dir && place.name === first.name;
    if (!same && item.ino === ino && item.nlink > 1) places.push(place);
  }
  return places;
}

function placeAt(tree: LiveTree, path: ByteString): Place | undefined {
  let dir = tree.root;
  for (const name of splitPath(parentOf(path))) {
    const next = tree.lookup(dir, name);
    if (!isDirectoryItem(next)) return undefined;
    dir = next instanceof OwnDirectory ? next : tree.own(dir, name);
  }
  return tree.place(dir, baseNameOf(path));
}

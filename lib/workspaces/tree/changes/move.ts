import type { ByteString } from '../../../byte-string.ts';
import { EEXIST, EINVAL, EISDIR, ENOENT, ENOTDIR } from '../../../linux/errno.ts';
import type { Time } from '../../../trees/format/entry.ts';
import { entryOf, type Item, isDirectoryItem, OwnDirectory, OwnFile } from '../items.ts';
import type { LiveTree } from '../live-tree.ts';
import type { Place } from '../place.ts';
import { lose, movable, requireEmpty, touch } from './lose.ts';

export type HowToMove = 'replace' | 'noreplace' | 'exchange';

type Name = { readonly dir: OwnDirectory; readonly name: ByteString };

/**
 * As renameat2(2), with its errors: a clean directory moves as an entry, an own one as it is, and nothing below is touched.
 * Answers with what `to` has lost. Two names of one file stay as they are.
 */
export function move(tree: LiveTree, fromName: Name, toName: Name, how: HowToMove, time: Time): Item | undefined {
  const from = tree.place(fromName.dir, fromName.name);
  const to = tree.place(toName.dir, toName.name);
  require(from, to, how);
  if (to.item !== undefined && sameFile(from, to)) return undefined;
  for (const place of [from, to]) movable(tree, place);
  // Only now: the other names of the one may have made the other own.
  const [moved, other] = [from.item!, to.item];
  const exchange = how === 'exchange';
  // A file that goes over another one, or a directory over an empty one, frees what that had.
  const makesRoom = !exchange && other !== undefined;
  const links = { from: tree.linkTo(from, makesRoom), to: tree.linkTo(to, makesRoom) };
  tree.append({ op: 'move', ...links, exchange, time }, makesRoom);
  from.set(null);
  to.set(at(moved, from, to, time));
  if (exchange) from.set(at(other!, to, from, time));
  else if (other !== undefined) lose(tree, other, to, time);
  if (movesLinks(moved) || (exchange && movesLinks(other!))) tree.linkPaths.forget();
  touch(from.dir, time);
  touch(to.dir, time);
  return exchange ? undefined : other;
}

function require(from: Place, to: Place, how: HowToMove): void {
  const [moved, other] = [from.item, to.item];
  if (moved === undefined) throw ENOENT;
  if (how === 'noreplace' && other !== undefined) throw EEXIST;
  if (how === 'exchange' && other === undefined) throw ENOENT;
  if (isAbove(moved, to.dir)) throw EINVAL;
  if (how === 'exchange' && isAbove(other!, from.dir)) throw EINVAL;
  if (how === 'exchange' || other === undefined || sameFile(from, to)) return;
  if (isDirectoryItem(moved) && !isDirectoryItem(other)) throw ENOTDIR;
  if (!isDirectoryItem(moved) && isDirectoryItem(other)) throw EISDIR;
  if (isDirectoryItem(other)) requireEmpty(other);
}

/** A directory above an own one is own. */
function isAbove(item: Item, dir: OwnDirectory): boolean {
  for (let at: OwnDirectory | null = dir; at !== null; at = at.parent) if (at === item) return true;
  return false;
}

function sameFile(a: Place, b: Place): boolean {
  if (a.dir === b.dir && a.name === b.name) return true;
  const [x, y] = [a.item!, b.item!];
  if (x instanceof OwnFile || y instanceof OwnFile) return x === y;
  return !isDirectoryItem(x) && !isDirectoryItem(y) && x.ino === y.ino && x.nlink > 1 && y.nlink > 1;
}

/** The item at another place. */
function at(item: Item, from: Place, to: Place, { s, ns }: Time): Item {
  const entry = { ctime: s, ctimeNs: ns };
  if (item instanceof OwnDirectory) item.entry = { ...item.entry, ...entry };
  else if (item instanceof OwnFile) {
    item.entry = { ...item.entry, ...entry };
    const { dir, name } = to;
    item.names = item.names.map((at) => (at.dir === from.dir && at.name === from.name ? { dir, name } : at));
  } else return { ...item, ...entry, name: to.name };
  return item;
}

function movesLinks(item: Item): boolean {
  // What an own directory has is not looked for.
  return item instanceof OwnDirectory || (isDirectoryItem(item) && (entryOf(item).totals?.linked ?? 0) > 0);
}

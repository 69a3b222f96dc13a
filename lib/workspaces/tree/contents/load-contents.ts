import type { Entry, Time } from '../../../trees/format/entry.ts';
import { fileOf, type Key, slotOf } from '../../../trees/format/keys.ts';
import type { DataFiles } from '../../delta/contents/data-files.ts';
import type { TopLayer } from '../../delta/contents/top-layer.ts';
import { dataWritten } from '../changes/contents.ts';
import { isBefore } from '../disk/mark.ts';
import { OwnDirectory, OwnFile, ownBelow } from '../items.ts';
import type { LiveTree } from '../live-tree.ts';
import type { Lifetime } from './lifetime.ts';
import type { NamedContents } from './named-contents.ts';
import type { Numbers } from './numbers.ts';
import { slotsInUse } from './slab-maps.ts';
import { slotNumber } from './slot-places.ts';
import type { Durability } from './waiting-frees.ts';

export interface LoadedIn {
  readonly tree: LiveTree;
  readonly store: bigint;
  readonly top: TopLayer;
  readonly files: DataFiles;
  readonly lifetime: Lifetime;
  readonly numbers: Numbers;
  readonly journal: Pick<Durability, 'durable' | 'root'>;
}

/**
 * Goes on with the contents of the server before, after its journals were replayed. `maps`: of the root. What only a journal
 * names, and the tree does not any more, is freed; what the root named, and a journal freed, is left to a sweep.
 */
export function loadContents(where: LoadedIn, maps: Buffer | undefined, named: NamedContents): void {
  const { tree, store, top, files, lifetime, numbers, journal } = where;
  const { durable, root } = journal;
  const isKnown = durable !== undefined && !isBefore(durable, { generation: root.generation, end: 0 });
  const { slabs } = top;
  const keep = (key: Key) => {
    const slot = slotOf(key);
    if (slot?.store === store) slabs.keep(slotNumber(slot));
  };
  if (maps !== undefined) for (const slot of slotsInUse(maps)) slabs.keep(slot);
  for (const key of named.keys) keep(key);
  for (const [size, bits] of named.below.slots) for (const slot of bits) slabs.keep(slotNumber({ class: size, slot }));
  // The server before may have ended before its root was durable: after a loss of power, an older one names other slots.
  slabs.loaded(isKnown);
  const live = new Set<string>();
  for (const { key } of entriesIn(tree)) live.add(placeOf(key));
  for (const key of named.keys) {
    if (live.has(placeOf(key))) continue;
    live.add(placeOf(key));
    lifetime.release(key);
  }
  files.removeFrom(top.layer, numbers.next.nextNumber);
  findWritten(where);
}

/** Data files are written in their place: what the disk has is newer than what a record says. */
function findWritten({ tree, store, top, files }: LoadedIn): void {
  for (const own of filesIn(tree)) {
    const file = fileOf(own.entry.key);
    const stat = file?.store === store ? files.stat({ layer: top.layer, id: file.number }) : undefined;
    // A missing one is told by who reads it, unless it was empty.
    if (stat === undefined) continue;
    const { size, holes, mtime } = stat;
    const time = { s: mtime.sec, ns: mtime.nsec };
    const isNewer = isLater(time, own.entry);
    if (size === own.entry.size && !isNewer) continue;
    dataWritten(tree, own, { size, holes: holes || undefined }, isNewer ? time : undefined);
  }
}

/** Every record that sets the times sets ctime to its own. */
function isLater({ s, ns }: Time, { ctime, ctimeNs }: Entry): boolean {
  return s > ctime || (s === ctime && ns > ctimeNs);
}

function* filesIn(tree: LiveTree): Generator<OwnFile> {
  for (const dir of ownBelow(tree.root)) for (const [, item] of dir.patch) if (item instanceof OwnFile) yield item;
}

/** The entries in patches. */
function* entriesIn(tree: LiveTree): Generator<Entry> {
  for (const dir of ownBelow(tree.root))
    for (const [, item] of dir.patch)
      if (item !== null && !(item instanceof OwnDirectory)) yield item instanceof OwnFile ? item.entry : item;
}

/** Several keys may name contents in one place: as they were after each write. */
function placeOf(key: Key): string {
  const slot = slotOf(key);
  return slot === undefined ? `file ${fileOf(key)?.number}` : `slot ${slotNumber(slot)}`;
}

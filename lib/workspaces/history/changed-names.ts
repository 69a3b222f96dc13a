import { type ByteString, withSlash } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { S_IFDIR, S_IFREG } from '../../linux/mode.ts';
import type { Base, BaseStat } from '../base/base.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';
import { DividedList } from '../divided-list.ts';
import { sorted } from '../sorted.ts';
import type { Present } from './present.ts';

/** Number of names from which on reading the whole base directory is faster than one lookup for each name. */
const MANY_NAMES = 64;
/** Smallest size of an entry of a host directory in bytes; the directory's size bounds the number of its names. */
const NAME_BYTES = 32;
/** Names examined in one step. */
const ITEMS_PER_STEP = 64;

/**
 * Returns the keys after `after`, sorted. A directory has two keys: its name, and for its contents the name and a
 * slash, which gives the order of whole paths.
 */
export function* keysAfter(
  names: Iterable<ByteString>,
  after: ByteString,
  mayDescend: (name: ByteString) => boolean,
): Steps<Iterable<ByteString>, undefined> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const keys = new DividedList<ByteString>();
  for (const name of names) {
    if (counter.count()) yield;
    if (name > after) keys.push(name);
    if (!mayDescend(name)) continue;
    const descend = withSlash(name);
    if (descend >= after || after.startsWith(descend)) keys.push(descend);
  }
  return yield* sorted(keys);
}

/** The names of a base directory. */
export interface BaseNames {
  stat(name: ByteString): BaseStat | undefined;
  /** Whether the file of the name has these bytes; undefined: it is unknown. `stat` then needs no other lookup. */
  isSame(name: ByteString, bytes: Buffer): boolean | undefined;
  mayBeDirectory(name: ByteString): boolean;
}

/** Returns access to the base's names in a directory; `count`: number of names that will be looked up. */
export function* baseNames(
  base: Base,
  { path, wasDirectory }: { path: ByteString; wasDirectory: boolean },
  count: number,
): Steps<BaseNames, undefined> {
  if (!wasDirectory) return { stat: () => undefined, isSame: () => undefined, mayBeDirectory: () => false };
  let last: { name: ByteString; stat: BaseStat | undefined } | undefined;
  const stat = (name: ByteString) => {
    // The two keys of a name mostly follow each other.
    if (last?.name !== name) last = { name, stat: base.lstatIn(path, name) };
    return last.stat;
  };
  const isSame = (name: ByteString, bytes: Buffer) => {
    const compared = base.compareIn(path, name, bytes);
    if (compared !== undefined) last = { name, stat: compared.stat };
    return compared?.same;
  };
  const few = count < MANY_NAMES || (base.lstat(path)?.size ?? 0) / NAME_BYTES > count;
  if (few) return { stat, isSame, mayBeDirectory: () => true };
  const counter = new StepCounter(ITEMS_PER_STEP);
  let types: LargeMap<ByteString, number> = new Map();
  for (const { name, type } of yield* base.reading(path)) {
    types = dividedIfLarge(types).set(name, type);
    if (counter.count()) yield;
  }
  return {
    stat: (name) => (types.has(name) ? stat(name) : undefined),
    isSame: (name, bytes) => (types.get(name) === S_IFREG ? isSame(name, bytes) : undefined),
    mayBeDirectory: (name) => types.get(name) === S_IFDIR,
  };
}

/** Returns the names that a directory of the delta has entries of. */
export function* changedNames(dir: Present): Steps<DividedList<ByteString>, undefined> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const names = new DividedList<ByteString>();
  for (const name of dir.inode?.entries?.keys() ?? []) {
    names.push(name);
    if (counter.count()) yield;
  }
  return names;
}

/** Returns the names that a directory has now or had in the base. */
export function* allNames(
  base: Base,
  { path, now, wasDirectory }: { path: ByteString; now: Present | undefined; wasDirectory: boolean },
): Steps<DividedList<ByteString>, undefined> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const own = now?.inode?.entries;
  const names = now === undefined ? new DividedList<ByteString>() : yield* changedNames(now);
  const wasAt = wasDirectory ? path : undefined;
  let ofBase: LargeMap<ByteString, true> = new Map();
  for (const each of now?.basePath === wasAt ? [wasAt] : [now?.basePath, wasAt]) {
    for (const { name } of each === undefined ? [] : yield* base.reading(each)) {
      if (counter.count()) yield;
      if (own?.has(name) || ofBase.has(name)) continue;
      ofBase = dividedIfLarge(ofBase).set(name, true);
      names.push(name);
    }
  }
  return names;
}

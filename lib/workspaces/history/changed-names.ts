import { type ByteString, joinPath, withSlash } from '../../byte-string.ts';
import { Counted, type Steps } from '../../fuse/connection/steps.ts';
import { S_IFDIR } from '../../linux/mode.ts';
import type { Base, BaseStat } from '../base/base.ts';
import { sorted } from '../sorted.ts';

/** Names of a directory from which on it is faster to read the base's whole directory than to ask for each. */
const MANY_NAMES = 64;
/** Bytes that a name takes in a directory of the host, at least: what its size tells of the number of its names. */
const NAME_BYTES = 32;
/** Names looked at in one step. */
const AT_ONCE = 64;

/** A directory's own entry sorts as its name, what is below it as if a slash followed: the order of whole paths. */
export function* keysAfter(
  names: Iterable<ByteString>,
  after: ByteString,
  mayDescend: (name: ByteString) => boolean,
): Steps<ByteString[], undefined> {
  const counted = new Counted(AT_ONCE);
  const keys: ByteString[] = [];
  for (const name of names) {
    yield* counted.one();
    if (name > after) keys.push(name);
    if (!mayDescend(name)) continue;
    const descend = withSlash(name);
    if (descend >= after || after.startsWith(descend)) keys.push(descend);
  }
  return yield* sorted(keys);
}

export interface BaseNames {
  stat(name: ByteString): BaseStat | undefined;
  mayBeDirectory(name: ByteString): boolean;
}

/** What the base has in a directory of this path. */
export function* baseNames(
  base: Base,
  { path, wasDirectory }: { path: ByteString; wasDirectory: boolean },
  count: number,
): Steps<BaseNames, undefined> {
  if (!wasDirectory) return { stat: () => undefined, mayBeDirectory: () => false };
  const stat = (name: ByteString) => base.lstat(joinPath(path, name));
  const few = count < MANY_NAMES || (base.lstat(path)?.size ?? 0) / NAME_BYTES > count;
  if (few) return { stat, mayBeDirectory: () => true };
  const counted = new Counted(AT_ONCE);
  const types = new Map<ByteString, number>();
  for (const { name, type } of yield* base.reading(path)) {
    types.set(name, type);
    yield* counted.one();
  }
  return {
    stat: (name) => (types.has(name) ? stat(name) : undefined),
    mayBeDirectory: (name) => types.get(name) === S_IFDIR,
  };
}

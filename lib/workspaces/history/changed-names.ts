import type { ByteString } from '../../byte-string.ts';
import { S_IFDIR } from '../../linux/mode.ts';
import { type Base, type BaseStat, joinPath } from '../base/base.ts';

/** Names of a directory from which on it is faster to read the base's whole directory than to ask for each. */
const MANY_NAMES = 64;
/** Bytes that a name takes in a directory of the host, at least: what its size tells of the number of its names. */
const NAME_BYTES = 32;

/** A directory's own entry sorts as its name, what is below it as if a slash followed: the order of whole paths. */
export function keysAfter(
  names: Iterable<ByteString>,
  after: ByteString,
  mayDescend: (name: ByteString) => boolean,
): ByteString[] {
  const keys: ByteString[] = [];
  for (const name of names) {
    if (name > after) keys.push(name);
    if (!mayDescend(name)) continue;
    const descend = `${name}/`;
    if (descend >= after || after.startsWith(descend)) keys.push(descend);
  }
  // One char a byte: the order of chars is that of bytes.
  return keys.sort();
}

/** What the base has in a directory of this path. */
export function baseNames(
  base: Base,
  { path, wasDirectory }: { path: ByteString; wasDirectory: boolean },
  count: number,
): { stat(name: ByteString): BaseStat | undefined; mayBeDirectory(name: ByteString): boolean } {
  if (!wasDirectory) return { stat: () => undefined, mayBeDirectory: () => false };
  const stat = (name: ByteString) => base.lstat(joinPath(path, name));
  const few = count < MANY_NAMES || (base.lstat(path)?.size ?? 0) / NAME_BYTES > count;
  if (few) return { stat, mayBeDirectory: () => true };
  const types = new Map(base.readdir(path).map(({ name, type }) => [name, type]));
  return {
    stat: (name) => (types.has(name) ? stat(name) : undefined),
    mayBeDirectory: (name) => types.get(name) === S_IFDIR,
  };
}

import type { DirectoryObject } from '../format/directory-object.ts';
import { FormatError } from '../format/format-error.ts';
import type { Key } from '../format/keys.ts';
import type { Seed } from './name-hash.ts';

/**
 * Where objects are read from: memory, a store on the disk, or one far away. A look-up is synchronous, because whoever asks
 * may hold up the requests of a file system. It throws an AbsentObject for what is not at hand; nothing is changed then, and
 * the same call can be made again.
 */
export interface Source {
  load(key: Key): DirectoryObject;
}

/** Where new objects go. The key says how they are kept: by their hash, or by their place. */
export interface Sink {
  /** That of the codebase. */
  readonly seed: Seed;
  put(object: DirectoryObject): Key;
}

export class AbsentObject extends Error {
  override readonly name = 'AbsentObject';
  readonly key: Key;
  /** `postponed`: it is being fetched, call again; `missing`: it should be there, and is not, or is damaged. */
  readonly reason: 'postponed' | 'missing';

  constructor(key: Key, reason: 'postponed' | 'missing') {
    super(`the directory object ${Buffer.from(key, 'latin1').toString('hex')} is ${reason}`);
    this.key = key;
    this.reason = reason;
  }
}

/** The object of an item. A wrong one cannot lead a search in circles: each step goes down one level. */
export function loadBelow(source: Source, object: DirectoryObject, index: number): DirectoryObject {
  const below = source.load(object.item(index).key);
  if (below.level === object.level - 1) return below;
  throw new FormatError(`an item of level ${object.level} names an object of level ${below.level}`);
}

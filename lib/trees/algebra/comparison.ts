import { differences } from '../directory/differences.ts';
import type { Source } from '../directory/source.ts';
import { type Entry, isDirectory, TYPE } from '../format/entry.ts';
import { isLocal, type Key, KIND, kindOf } from '../format/keys.ts';

/** The hash of contents in a sandbox's store; undefined while nobody has read them. */
export type HashOf = (key: Key) => Key | undefined;

/**
 * Whether two entries are the same to a user: type, permission bits, and contents or target; of directories all that is in
 * them. Times and numbers do not count. Contents in different places are compared by their hashes; as long as one is not
 * known they are different.
 */
export class Comparison {
  readonly source: Source;
  readonly #hashOf: HashOf;
  /** Answers for pairs of directories: without them, deep trees would be compared once for each level. */
  readonly #known = new Map<string, boolean>();

  constructor(source: Source, hashOf: HashOf) {
    this.source = source;
    this.#hashOf = hashOf;
  }

  /** The same with another source, which has these objects, too. */
  above(source: Source): Comparison {
    return new Comparison(source, this.#hashOf);
  }

  readonly same = (a: Entry | undefined, b: Entry | undefined): boolean => {
    if (!this.alike(a, b)) return false;
    return !isDirectory(a) || !isDirectory(b) || this.#sameDirectories(a.key, b.key);
  };

  /** As `same`, but for what is in a directory. */
  readonly alike = (a: Entry | undefined, b: Entry | undefined): boolean => {
    if (a === b) return true;
    if (a === undefined || b === undefined || a.type !== b.type || a.mode !== b.mode) return false;
    if (a.type === TYPE.directory) return true;
    return a.target === b.target && a.rdev === b.rdev && this.#sameContents(a, b);
  };

  /** Those of two files that are to be hashed before it can be told whether they have the same contents. */
  unknown(a: Entry | undefined, b: Entry | undefined): Entry[] {
    if (a === undefined || b === undefined || a.type !== TYPE.file || b.type !== TYPE.file) return [];
    if (a.mode !== b.mode || a.size !== b.size || a.size === 0 || a.key === b.key) return [];
    return [a, b].filter(({ key }) => isLocal(key) && this.#hash(key) === undefined);
  }

  #sameContents(a: Entry, b: Entry): boolean {
    if (a.key === b.key) return true;
    if (a.size !== b.size) return false;
    // Also those of a data file that was cut off.
    if (a.size === 0) return true;
    const hash = this.#hash(a.key);
    return hash !== undefined && hash === this.#hash(b.key);
  }

  #hash(key: Key): Key | undefined {
    return kindOf(key) === KIND.hash ? key : this.#hashOf(key);
  }

  #sameDirectories(a: Key, b: Key): boolean {
    if (a === b) return true;
    const pair = a + b;
    const known = this.#known.get(pair);
    if (known !== undefined) return known;
    let same = true;
    for (const difference of differences(this.source, a, b)) {
      same = this.same(difference.a, difference.b);
      if (!same) break;
    }
    this.#known.set(pair, same);
    return same;
  }
}

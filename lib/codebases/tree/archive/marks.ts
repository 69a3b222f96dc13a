import { type ByteString, fromLatin1, joinPath, parentOf, sliceOf } from '../../../byte-string.ts';
import { findEntry } from '../../../trees/directory/find-entry.ts';
import type { Source } from '../../../trees/directory/source.ts';
import { type DirectoryEntry, type Entry, TYPE } from '../../../trees/format/entry.ts';
import { addedAndRemoved, noMark, WHITEOUT } from '../../archive/refused-imports.ts';
import { walk } from '../walk.ts';

/** Marks with another meaning in layers of OCI images, which have none here. */
const RESERVED = fromLatin1('.wh..wh.');
const STEP = 256;

/** What an archive says is removed, by names in it. */
export class Marks {
  readonly #source: Source;

  constructor(source: Source) {
    this.#source = source;
  }

  isMark({ name }: Entry): boolean {
    return name.startsWith(WHITEOUT);
  }

  /** The name that a mark in a directory of the archive says is removed beside it. */
  removed(path: ByteString, mark: Entry, directory: DirectoryEntry): ByteString {
    const name = sliceOf(mark.name, WHITEOUT.length);
    const isPlain = mark.type === TYPE.file && mark.size === 0 && name.length > 0;
    if (!isPlain || mark.name.startsWith(RESERVED)) throw noMark(path);
    if (findEntry(this.#source, directory.key, name) !== undefined)
      throw addedAndRemoved(joinPath(parentOf(path), name));
    return name;
  }

  /** A directory that the codebase has not got comes as it is: throws if something in it says that it is removed. */
  *requireNone(path: ByteString, directory: DirectoryEntry): Generator<void, void, void> {
    let looked = 0;
    for (const found of walk(this.#source, directory)) {
      if (this.isMark(found.entry)) throw noMark(joinPath(path, found.path));
      if (++looked % STEP === 0) yield;
    }
  }
}

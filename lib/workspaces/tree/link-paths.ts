import { type ByteString, joinPath, ROOT_PATH } from '../../byte-string.ts';
import { linkNames } from '../../trees/algebra/link-names.ts';
import { entriesOf } from '../../trees/directory/entries.ts';
import type { Source } from '../../trees/directory/source.ts';
import { type Entry, isDirectory } from '../../trees/format/entry.ts';
import { OwnDirectory, OwnFile, ownBelow } from './items.ts';

/**
 * The paths of clean files with several names, by their numbers. Such an entry does not say where the others are. Read from
 * the tree when they are asked for first, and again after directories with such files have moved.
 */
export class LinkPaths {
  readonly #source: Source;
  #known: Map<number, ByteString[]> | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  /** May have paths at which the file is not any more. */
  of(root: OwnDirectory, ino: number): readonly ByteString[] {
    this.#known ??= this.#read(root);
    return this.#known.get(ino) ?? [];
  }

  forget(): void {
    this.#known = undefined;
  }

  /** Own files become clean ones, at their names of now. */
  frozen(files: Iterable<OwnFile>): void {
    if (this.#known === undefined) return;
    for (const { entry, names } of files) {
      if (names.length > 1)
        this.#known.set(
          entry.ino,
          names.map(({ dir, name }) => joinPath(pathOf(dir), name)),
        );
      else this.#known.delete(entry.ino);
    }
  }

  #read(root: OwnDirectory): Map<number, ByteString[]> {
    const known = new Map<number, ByteString[]>();
    const add = (ino: number, path: ByteString) => {
      const paths = known.get(ino);
      if (paths === undefined) known.set(ino, [path]);
      else paths.push(path);
    };
    const clean = (path: ByteString, entry: Entry) => {
      if (isDirectory(entry))
        for (const [ino, below] of linkNames(this.#source, entry)) for (const at of below) add(ino, joinPath(path, at));
      else if (entry.nlink > 1) add(entry.ino, path);
    };
    for (const dir of ownBelow(root)) {
      const path = pathOf(dir);
      for (const [name, item] of dir.patch)
        if (item !== null && !(item instanceof OwnDirectory || item instanceof OwnFile))
          clean(joinPath(path, name), item);
      if (dir.entry.totals.linked === 0) continue;
      for (const entry of entriesOf(this.#source, dir.entry.key))
        if (dir.patch.get(entry.name) === undefined) clean(joinPath(path, entry.name), entry);
    }
    return known;
  }
}

function pathOf(dir: OwnDirectory): ByteString {
  const names: ByteString[] = [];
  for (let at = dir; at.parent !== null; at = at.parent) names.push(at.name);
  return names.reverse().reduce(joinPath, ROOT_PATH);
}

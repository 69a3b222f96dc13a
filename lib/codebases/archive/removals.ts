import { type ByteString, baseNameOf, fromLatin1, joinPath, parentOf, sliceOf } from '../../byte-string.ts';
import type { HostTree } from '../../host-tree/host-tree.ts';
import { addEntry, type Contents } from '../totals.ts';
import type { RecordWriter } from './record-file.ts';
import { addedAndRemoved, noMark, WHITEOUT } from './refused-imports.ts';

/** Marks with another meaning there, which have none here. */
const RESERVED = '.wh..wh.';

/** Plans what an archive removes of a codebase. */
export class Removals {
  readonly #steps: RecordWriter;
  readonly #to: HostTree;
  readonly #lists: boolean;
  readonly #paths: ByteString[] = [];
  #count = 0;

  /** `to`: the files of the codebase. `lists`: whether the removed paths matter to somebody. */
  constructor(steps: RecordWriter, to: HostTree, lists: boolean) {
    this.#steps = steps;
    this.#to = to;
    this.#lists = lists;
  }

  /** All paths that are removed; empty if they matter to nobody. */
  get paths(): ByteString[] {
    return this.#paths;
  }

  /** The path that an entry of the archive says is removed; undefined: it says nothing of the kind. */
  namedBy(mark: ByteString, staged: HostTree): ByteString | undefined {
    const name = baseNameOf(mark);
    if (!name.startsWith(WHITEOUT)) return undefined;
    const stats = staged.lstat(mark);
    if (name.startsWith(RESERVED) || name === WHITEOUT || !stats?.isFile() || stats.size > 0n) throw noMark(mark);
    const path = joinPath(parentOf(mark), sliceOf(name, WHITEOUT.length));
    if (staged.lstat(path) !== undefined) throw addedAndRemoved(path);
    return path;
  }

  /** A directory that the codebase has not got comes as it is: throws if something below it says that it is removed. */
  requireNone(directory: ByteString, staged: HostTree): void {
    const waiting = [directory];
    for (let above = waiting.pop(); above !== undefined; above = waiting.pop()) {
      for (const entry of staged.entries(above)) {
        const path = joinPath(above, fromLatin1(entry.name));
        if (entry.name.startsWith(WHITEOUT)) throw noMark(path);
        if (entry.isDirectory()) waiting.push(path);
      }
    }
  }

  /** Returns false if the codebase has not got it. `growth`: gets smaller by it. */
  remove(path: ByteString, growth: Contents): boolean {
    if (this.#to.lstat(path) === undefined) return false;
    const waiting = [path];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const stats = this.#to.lstat(next);
      if (stats === undefined) continue;
      addEntry(growth, stats, -1);
      if (this.#lists) this.#paths.push(next);
      if (!stats.isDirectory()) continue;
      for (const { name } of this.#to.entries(next)) waiting.push(joinPath(next, fromLatin1(name)));
    }
    this.#steps.add({ kind: 'drop', path, a: this.#count++, b: 0 });
    return true;
  }
}

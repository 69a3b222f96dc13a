import { type ByteString, splitPath } from '../../byte-string.ts';
import { childOf } from '../directory/find-entry.ts';
import { type Entry, isDirectory } from '../format/entry.ts';
import type { CommitOptions, Trees } from './commit-options.ts';
import { diff } from './diff.ts';
import type { Three } from './three.ts';

/**
 * The inode numbers of what a commit puts into head. No two entries of head have the same one, because programs take equal
 * numbers for the same file; and other contents have another number, so that who has the file open sees it replaced.
 */
export class PublishedNumbers {
  readonly #options: CommitOptions;
  readonly #trees: Trees;
  /** Where base has the numbers that the sandbox has elsewhere, or nowhere. */
  #movedFrom: Map<number, ByteString> | undefined;
  readonly #taken = new Map<number, ByteString>();
  readonly #renewed = new Set<number>();

  constructor(options: CommitOptions, trees: Trees) {
    this.#options = options;
    this.#trees = trees;
  }

  /** Of a file or symlink; `published` is what head will have. */
  of({ b, m, h }: Three, published: Entry): number {
    const ino = m!.ino;
    // Names of one file become files of their own.
    if (m!.nlink > 1) return this.#options.numbers.next();
    if (h?.ino === ino) return sameContents(published, h) ? ino : this.#options.numbers.next();
    // Head has replaced it, or moved it to a place that is not known here.
    if (b?.ino === ino) return this.#options.numbers.next();
    return this.ofNew(ino);
  }

  /** Of an entry where head has had none. */
  ofNew(ino: number): number {
    const { numbers } = this.#options;
    if (this.#renewed.has(ino)) return numbers.next();
    this.#movedFrom ??= this.#findMoved();
    const from = this.#movedFrom.get(ino);
    if (from === undefined) return numbers.isOwn(ino) ? ino : numbers.next();
    this.#taken.set(ino, from);
    return ino;
  }

  /**
   * Whether all that was moved is gone from its old place in the new head. Else the commit has taken half of a rename, and
   * is to be made once more: then the other half has the number alone.
   */
  settle(head: Entry | undefined): boolean {
    const before = this.#renewed.size;
    for (const [ino, from] of this.#taken)
      if (this.#inoAt(this.#trees.head, from) !== ino || this.#inoAt(head, from) === ino) this.#renewed.add(ino);
    this.#taken.clear();
    return this.#renewed.size === before;
  }

  #findMoved(): Map<number, ByteString> {
    const moved = new Map<number, ByteString>();
    for (const { path, before, after } of diff(this.#options.comparison, this.#trees.base, this.#trees.mine, true))
      if (before !== undefined && before.ino !== after?.ino) moved.set(before.ino, path);
    return moved;
  }

  #inoAt(tree: Entry | undefined, path: ByteString): number | undefined {
    let entry = tree;
    for (const name of splitPath(path)) entry = childOf(this.#options.comparison.source, entry, name);
    return entry?.ino;
  }
}

function sameContents(a: Entry, b: Entry): boolean {
  return a.type === b.type && a.key === b.key && a.target === b.target && !isDirectory(a);
}

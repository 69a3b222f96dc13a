import type { ByteString } from '../../../byte-string.ts';
import { isDirectory } from '../../../linux/mode.ts';
import type { BaseStat } from '../../base/base.ts';
import { type Identity, IdentityRows } from './identity-rows.ts';
import { PathTree } from './path-tree.ts';
import { hashOfNumber, RowIndex } from './row-index.ts';

/** Rows from which on inode numbers are indexed as rows are added: at the first use that would block for long. */
const MANY = 1 << 10;

/**
 * The version of the base at each path when the sandbox first copied it up or whited it out. The first version counts:
 * from then on the sandbox does not see the base there.
 */
export class BaseVersions {
  readonly #paths = new PathTree();
  /** By row of `#paths`; absent for a directory above a path. */
  readonly #identities = new IdentityRows();
  readonly #parent: BaseVersions | undefined;
  /** Rows by inode number, one of each; made at the first use, or when there are many. */
  #byIno: RowIndex | undefined;

  /** Extends `below`, which must not change any more. */
  constructor(below?: BaseVersions) {
    this.#parent = below;
  }

  /** Memory in bytes, without that of the parents. */
  get ownMemory(): number {
    return this.#paths.memory;
  }

  /** Returns the version at a path, if one was recorded. */
  get(path: ByteString): Identity | undefined {
    for (let at: BaseVersions | undefined = this; at !== undefined; at = at.#parent) {
      const row = at.#paths.find(path);
      const identity = row === undefined ? undefined : at.#identities.get(row);
      if (identity !== undefined) return identity === 'hides' ? undefined : identity;
    }
    return undefined;
  }

  /** Records a version unless one is recorded already. */
  add(path: ByteString, identity: Identity): void {
    if (this.get(path) !== undefined) return;
    const row = this.#rowOf(path) ?? this.#paths.add(path);
    this.#identities.set(row, identity);
    if (this.#byIno !== undefined) this.#index(this.#byIno, row);
    else if (this.#paths.end >= MANY) this.#byIno = this.#makeIndex();
  }

  /** Removes a recorded version. */
  delete(path: ByteString): void {
    const row = this.#rowOf(path);
    if (row !== undefined && this.#identities.get(row) !== 'hides') {
      this.#byIno?.remove(hashOfNumber(this.#identities.inoOf(row)), row);
      this.#identities.set(row, undefined);
      this.#paths.remove(row);
    }
    if (this.get(path) !== undefined) this.#identities.set(this.#paths.add(path), 'hides');
  }

  /** All recorded versions, parents included. */
  *entries(): Generator<[ByteString, Identity]> {
    for (const [path, identity] of this.#parent?.entries() ?? []) {
      if (this.#rowOf(path) === undefined) yield [path, identity];
    }
    for (let row = 0; row < this.#paths.end; row++) {
      const identity = this.#identities.get(row);
      if (typeof identity === 'object') yield [this.#paths.path(row), identity];
    }
  }

  /** Returns the path at which a base file with this inode number was recorded. */
  pathOf(ino: number): ByteString | undefined {
    this.#byIno ??= this.#makeIndex();
    const row = this.#find(this.#byIno, ino);
    if (row !== undefined) return this.#paths.path(row);
    const below = this.#parent?.pathOf(ino);
    return below === undefined || this.#rowOf(below) !== undefined ? undefined : below;
  }

  #makeIndex(): RowIndex {
    const byIno = new RowIndex((row) => hashOfNumber(this.#identities.inoOf(row)));
    for (let row = 0; row < this.#paths.end; row++) this.#index(byIno, row);
    return byIno;
  }

  /** Directories have no inode number. Of several hard links one is enough. */
  #index(byIno: RowIndex, row: number): void {
    const ino = this.#identities.inoOf(row);
    if (ino !== 0 && this.#find(byIno, ino) === undefined) byIno.add(hashOfNumber(ino), row);
  }

  #find(byIno: RowIndex, ino: number): number | undefined {
    return byIno.find(hashOfNumber(ino), (row) => this.#identities.inoOf(row) === ino);
  }

  /** Returns the row of a path that has a version, or hides the parent's, in this table. */
  #rowOf(path: ByteString): number | undefined {
    const row = this.#paths.find(path);
    return row === undefined || this.#identities.get(row) === undefined ? undefined : row;
  }
}

/**
 * Returns the identity of a base file. For a directory only the mode counts: its entries have identities of their own.
 */
export function identityOf({ ino, mode, size, mtime }: Pick<BaseStat, 'ino' | 'mode' | 'size' | 'mtime'>): Identity {
  if (isDirectory(mode)) return [0, mode, 0, 0, 0];
  return [ino, mode, size, mtime.sec, mtime.nsec];
}

/** Whether two identities are equal. */
export function sameIdentity(a: Identity, b: Identity): boolean {
  return a.every((part, index) => part === b[index]);
}

import type { ByteString } from '../../../byte-string.ts';
import { isDirectory } from '../../../linux/mode.ts';
import type { BaseStat } from '../../base/base.ts';
import { type Identity, IdentityRows } from './identity-rows.ts';
import { BASE_VERSION_BYTES } from './memory.ts';

/**
 * The version of the base at each path when the sandbox first copied it up or whited it out. The first version counts:
 * from then on the sandbox does not see the base there.
 */
export class BaseVersions {
  /** Row of the identity; undefined: removed from those of the parent. */
  readonly #byPath = new Map<ByteString, number | undefined>();
  readonly #rows = new IdentityRows();
  readonly #parent: BaseVersions | undefined;
  /** Memory in bytes, without that of the parents. */
  ownMemory = 0;
  #byIno: Map<number, ByteString> | undefined;

  /** Extends `below`, which must not change any more. */
  constructor(below?: BaseVersions) {
    this.#parent = below;
  }

  /** Returns the version at a path, if one was recorded. */
  get(path: ByteString): Identity | undefined {
    const row = this.#byPath.get(path);
    if (row !== undefined) return this.#rows.get(row);
    return this.#parent === undefined || this.#byPath.has(path) ? undefined : this.#parent.get(path);
  }

  /** Records a version unless one is recorded already. */
  add(path: ByteString, identity: Identity): void {
    if (this.get(path) !== undefined) return;
    if (!this.#byPath.has(path)) this.ownMemory += BASE_VERSION_BYTES + path.length;
    this.#byPath.set(path, this.#rows.add(identity));
    this.#byIno?.set(identity[0], path);
  }

  /** Removes a recorded version. */
  delete(path: ByteString): void {
    const identity = this.get(path);
    if (identity === undefined) return;
    const row = this.#byPath.get(path);
    if (row !== undefined) this.#rows.remove(row);
    if (this.#parent === undefined) {
      this.#byPath.delete(path);
      this.ownMemory -= BASE_VERSION_BYTES + path.length;
    } else this.#byPath.set(path, undefined);
    this.#byIno?.delete(identity[0]);
  }

  /** All recorded versions, parents included. */
  *entries(): Generator<[ByteString, Identity]> {
    for (const [path, identity] of this.#parent?.entries() ?? []) {
      if (!this.#byPath.has(path)) yield [path, identity];
    }
    for (const [path, row] of this.#byPath) if (row !== undefined) yield [path, this.#rows.get(row)];
  }

  /** Returns the path at which a base file with this inode number was recorded. */
  pathOf(ino: number): ByteString | undefined {
    if (this.#byIno === undefined) {
      this.#byIno = new Map();
      for (const [path, [known]] of this.entries()) this.#byIno.set(known, path);
    }
    return this.#byIno.get(ino);
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

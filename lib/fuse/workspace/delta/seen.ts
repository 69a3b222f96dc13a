import type { ByteString } from '../../filesystem.ts';
import type { BaseStat } from '../base.ts';

/** What tells one version of a base file from another: every change through the service makes a new inode. */
export type Identity = [ino: number, mode: number, size: number, mtimeSec: number, mtimeNsec: number];

/**
 * What the base had at each path when the sandbox first took it up (copied it, or hid it). The first counts: from then
 * on the sandbox does not see the base there.
 */
export class Seen {
  readonly #byPath = new Map<ByteString, Identity>();
  #byIno: Map<number, ByteString> | undefined;

  get(path: ByteString): Identity | undefined {
    return this.#byPath.get(path);
  }

  add(path: ByteString, identity: Identity): void {
    if (this.#byPath.has(path)) return;
    this.#byPath.set(path, identity);
    this.#byIno?.set(identity[0], path);
  }

  delete(path: ByteString): void {
    const identity = this.#byPath.get(path);
    if (identity === undefined) return;
    this.#byPath.delete(path);
    this.#byIno?.delete(identity[0]);
  }

  entries(): IterableIterator<[ByteString, Identity]> {
    return this.#byPath.entries();
  }

  /** The path and all below it. */
  below(path: ByteString): ByteString[] {
    const own = this.#byPath.has(path) ? [path] : [];
    // A file has nothing below: most paths are files, and there may be many of either.
    if (own.length > 0) return own;
    return [...this.#byPath.keys()].filter((each) => each.startsWith(`${path}/`));
  }

  /** Where a base file of this inode number was taken up. */
  pathOf(ino: number): ByteString | undefined {
    if (this.#byIno === undefined) {
      this.#byIno = new Map();
      for (const [path, [known]] of this.#byPath) this.#byIno.set(known, path);
    }
    return this.#byIno.get(ino);
  }
}

export function identityOf({ ino, mode, size, mtime }: Pick<BaseStat, 'ino' | 'mode' | 'size' | 'mtime'>): Identity {
  return [ino, mode, size, mtime.sec, mtime.nsec];
}

export function sameIdentity(a: Identity, b: Identity): boolean {
  return a.every((part, index) => part === b[index]);
}

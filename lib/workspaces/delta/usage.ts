import { EDQUOT } from '../../linux/errno.ts';
import type { Inode } from './index/inode.ts';

export interface Quota {
  /** 0: none. */
  maxBytes: number;
  maxFiles: number;
}

/**
 * The kernel tells of a last close a little late: what was just removed may still count when the next file is made. So
 * much of what has no name any more is not held against the sandbox.
 */
const LATE_BYTES = 64 << 20;
const LATE_INODES = 1024;

/** What a delta holds, against its quota. */
export class Usage {
  readonly #quota: Quota;
  #unnamed = new Set<Inode>();
  #unnamedBytes = 0;
  /** Apparent size of all contents, unnamed ones that are still open among them. */
  bytes = 0;

  constructor(quota: Quota) {
    this.#quota = quota;
  }

  /** Throws EDQUOT when so many more inodes than there are are too many. */
  claimInodes(count: number, inodes: number): void {
    const { maxFiles } = this.#quota;
    const room = maxFiles + Math.min(this.#unnamed.size, maxFiles, LATE_INODES);
    if (count > 0 && maxFiles > 0 && inodes + count > room) throw EDQUOT;
  }

  /** The same of bytes; `pending` ones are on their way already. */
  claimBytes(count: number, pending: number): void {
    const { maxBytes } = this.#quota;
    const room = maxBytes + Math.min(this.#unnamedBytes, maxBytes, LATE_BYTES);
    if (count > 0 && maxBytes > 0 && this.bytes + pending + count > room) throw EDQUOT;
  }

  resized(inode: Inode, by: number): void {
    this.bytes += by;
    if (this.#unnamed.has(inode)) this.#unnamedBytes += by;
  }

  /** An inode lost its last name while somebody still knows it. */
  unnamed(inode: Inode): void {
    if (this.#unnamed.has(inode)) return;
    this.#unnamed.add(inode);
    this.#unnamedBytes += inode.size;
  }

  released(inode: Inode): void {
    if (this.#unnamed.delete(inode)) this.#unnamedBytes -= inode.size;
    if (!inode.isDirectory) this.bytes -= inode.size;
  }

  /** The same inodes, as a new table has them. */
  find(get: (id: number) => Inode): void {
    this.#unnamed = new Set([...this.#unnamed].map(({ id }) => get(id)));
  }

  /** Another state of the delta: nothing of it is unnamed. */
  restart(bytes: number): void {
    this.bytes = bytes;
    this.#unnamed.clear();
    this.#unnamedBytes = 0;
  }
}

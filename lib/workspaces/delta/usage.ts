import { EDQUOT } from '../../linux/errno.ts';
import type { Inode } from './index/inode.ts';
import type { Retained } from './layers/retained.ts';

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

/** What a delta holds, and what it retains for its checkpoints, against its quota. */
export class Usage {
  readonly #quota: Quota;
  readonly #retained: Retained;
  #unlinked = new Set<Inode>();
  #unlinkedBytes = 0;
  /** Apparent size of all contents, unnamed ones that are still open among them. */
  bytes = 0;

  constructor(quota: Quota, retained: Retained) {
    this.#quota = quota;
    this.#retained = retained;
  }

  /** Throws EDQUOT when so many more inodes than there are are too many. */
  claimInodes(count: number, inodes: number): void {
    if (count > 0 && this.#hasTooMany(inodes + count)) throw EDQUOT;
  }

  #hasTooMany(inodes: number): boolean {
    const { maxFiles } = this.#quota;
    const room = maxFiles + Math.min(this.#unlinked.size, maxFiles, LATE_INODES);
    return maxFiles > 0 && inodes + this.#retained.files > room;
  }

  /** The same of bytes; `pending` ones are on their way already. */
  claimBytes(count: number, pending: number): void {
    if (count > 0 && this.#isTooMuch(pending + count)) throw EDQUOT;
  }

  #isTooMuch(more: number): boolean {
    const { maxBytes } = this.#quota;
    const room = maxBytes + Math.min(this.#unlinkedBytes, maxBytes, LATE_BYTES);
    return maxBytes > 0 && this.bytes + this.#retained.bytes + more > room;
  }

  /** Whether there is more than the quota allows, with so many bytes more. */
  isAbove(bytes: number, inodes: number): boolean {
    return this.#isTooMuch(bytes) || this.#hasTooMany(inodes);
  }

  resized(inode: Inode, by: number): void {
    this.bytes += by;
    if (this.#unlinked.has(inode)) this.#unlinkedBytes += by;
  }

  /** An inode lost its last name while somebody still knows it. */
  unlinked(inode: Inode): void {
    if (this.#unlinked.has(inode)) return;
    this.#unlinked.add(inode);
    this.#unlinkedBytes += inode.size;
  }

  released(inode: Inode): void {
    if (this.#unlinked.delete(inode)) this.#unlinkedBytes -= inode.size;
    if (!inode.isDirectory) this.bytes -= inode.size;
  }

  /** The same inodes, as a new table has them. */
  rebind(get: (id: number) => Inode): void {
    this.#unlinked = new Set([...this.#unlinked].map(({ id }) => get(id)));
  }

  /** Another state of the delta: nothing of it is unnamed. */
  reset(bytes: number): void {
    this.bytes = bytes;
    this.#unlinked.clear();
    this.#unlinkedBytes = 0;
  }
}

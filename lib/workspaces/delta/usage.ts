import { EDQUOT } from '../../linux/errno.ts';
import type { DiskShare } from './disk-share.ts';
import { dividedIfLarge, type LargeMap } from './index/divided-map.ts';
import type { Inode } from './index/inode.ts';
import type { Retained } from './layers/retained.ts';
import { OWNER_EDQUOT, type OwnerShare } from './owner-bytes.ts';

/** What a delta has, with what its checkpoints retain. */
export interface Held {
  bytes: number;
  files: number;
}

const NOTHING: Held = { bytes: 0, files: 0 };

/** Limits of a delta together with what its checkpoints retain, and with the delta beside it. */
export interface Quota {
  /** In bytes; 0: none. The same for files. */
  maxBytes: number;
  maxFiles: number;
  /** Its part in the limit of its owner; absent: it has none. */
  owner?: OwnerShare | undefined;
  /** Its part in the room of the disk; absent: the disk has no reserve. */
  disk?: DiskShare | undefined;
  /** What the sandbox has in its other directory. Absent: it has no other. */
  beside?(): Held | undefined;
}

/**
 * The kernel sends FORGET shortly after the last close, so removed files may still count when the next file is created.
 * Up to these amounts of unlinked files are not counted against the quota.
 */
const LATE_BYTES = 64 << 20;
const LATE_INODES = 1024;

/** What a delta uses of its quota, with what it retains for its checkpoints. */
export class Usage {
  readonly #quota: Quota;
  readonly #retained: Retained;
  /** By id: a discard can unlink a million that are open. */
  #unlinked: LargeMap<number, Inode> = new Map();
  #unlinkedBytes = 0;
  #bytes = 0;

  constructor(quota: Quota, retained: Retained) {
    this.#quota = quota;
    this.#retained = retained;
  }

  /** Stored bytes of all contents, including unlinked files that are still open. */
  get bytes(): number {
    return this.#bytes;
  }

  set bytes(bytes: number) {
    this.#bytes = bytes;
    this.count();
  }

  /** Counts the present bytes for the owner. Called after a change of `bytes` or of what is retained. */
  count(): void {
    this.#quota.owner?.count(this.#bytes + this.#retained.bytes);
  }

  /** Throws EDQUOT if `count` more than `inodes` exceed the quota. */
  claimInodes(count: number, inodes: number): void {
    if (count > 0 && this.#hasTooMany(inodes + count)) throw EDQUOT;
  }

  #hasTooMany(inodes: number): boolean {
    const { maxFiles } = this.#quota;
    const room = maxFiles + Math.min(this.#unlinked.size, maxFiles, LATE_INODES);
    return maxFiles > 0 && inodes + this.#retained.files + this.beside.files > room;
  }

  /**
   * Throws EDQUOT if `count` more bytes exceed the quota, OWNER_EDQUOT if they exceed the limit of the owner, or DISK_EDQUOT
   * if the disk has no room for them; `pending` bytes are being copied in already.
   */
  claimBytes(count: number, pending: number): void {
    if (count <= 0) return;
    if (this.#isTooMuch(pending + count)) throw EDQUOT;
    if (this.isAboveOwnersLimit(pending + count)) throw OWNER_EDQUOT;
    this.claimDisk(pending + count);
  }

  /** Throws DISK_EDQUOT if the disk has no room for so many bytes more, and host errors. */
  claimDisk(bytes: number): void {
    this.#quota.disk?.claim(bytes, this.#held);
  }

  /** Bytes by which the delta may grow before the disk has no room; Infinity: the disk has no reserve. */
  get diskRoom(): number {
    return this.#quota.disk?.growth(this.#held) ?? Number.POSITIVE_INFINITY;
  }

  #isTooMuch(more: number): boolean {
    const { maxBytes } = this.#quota;
    const room = maxBytes + Math.min(this.#unlinkedBytes, maxBytes, LATE_BYTES);
    return maxBytes > 0 && this.#held + more > room;
  }

  /** What counts for the same quota. */
  get beside(): Held {
    return this.#quota.beside?.() ?? NOTHING;
  }

  get #held(): number {
    return this.#bytes + this.#retained.bytes + this.beside.bytes;
  }

  /** Bytes by which all deltas of the owner may grow; Infinity: no limit. */
  get ownerRoom(): number {
    return this.#quota.owner?.room ?? Number.POSITIVE_INFINITY;
  }

  /** Whether all deltas of the owner exceed its limit with `bytes` more. */
  isAboveOwnersLimit(bytes: number): boolean {
    const { owner } = this.#quota;
    if (owner === undefined) return false;
    const { limit, room } = owner;
    return limit > 0 && bytes > room + Math.min(this.#unlinkedBytes, limit, LATE_BYTES);
  }

  /** Whether the quota is exceeded with `bytes` more and `inodes` in all. */
  isAbove(bytes: number, inodes: number): boolean {
    return this.#isTooMuch(bytes) || this.#hasTooMany(inodes);
  }

  /** Sets the size of a file, and how much of it is not stored. */
  measured(inode: Inode, { size, holes }: { size: number; holes: number }): void {
    const before = inode.stored;
    inode.size = size;
    inode.holes = holes;
    this.resized(inode, inode.stored - before);
  }

  /** Counts a change of what is stored, in bytes. */
  resized(inode: Inode, by: number): void {
    this.bytes += by;
    if (this.#unlinked.has(inode.id)) this.#unlinkedBytes += by;
  }

  /** Counts an inode as unlinked but still open. */
  unlinked(inode: Inode): void {
    if (this.#unlinked.has(inode.id)) return;
    this.#unlinked = dividedIfLarge(this.#unlinked).set(inode.id, inode);
    this.#unlinkedBytes += inode.stored;
  }

  /** Counts the release of an inode's contents. */
  released(inode: Inode): void {
    if (this.#unlinked.delete(inode.id)) this.#unlinkedBytes -= inode.stored;
    if (!inode.isDirectory) this.bytes -= inode.stored;
  }

  /** Replaces the unlinked inodes by those of a new table. */
  rebind(get: (id: number) => Inode): void {
    for (const id of this.#unlinked.keys()) this.#unlinked.set(id, get(id));
  }

  /** Counts another state of the delta, without unlinked inodes. */
  reset(bytes: number): void {
    this.bytes = bytes;
    this.#unlinked = new Map();
    this.#unlinkedBytes = 0;
  }
}

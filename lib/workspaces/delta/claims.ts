import type { ContentStore } from './contents/content-store.ts';
import type { DeltaIndex } from './delta-index.ts';
import type { Inode } from './index/inode.ts';
import { sharedContents } from './layers/live-contents.ts';
import type { Retained } from './layers/retained.ts';
import type { Usage } from './usage.ts';

/** Room on the disk for the records of an inode, in bytes. */
const RECORD = 4096;

/** The quota of one delta, for what is to be added. */
export class Claims {
  readonly #index: DeltaIndex;
  readonly #contents: ContentStore;
  readonly #retained: Retained;
  readonly #usage: Usage;

  constructor(index: DeltaIndex, contents: ContentStore, retained: Retained, usage: Usage) {
    this.#index = index;
    this.#contents = contents;
    this.#retained = retained;
    this.#usage = usage;
  }

  /** Throws EDQUOT if the quota does not permit `count` more inodes. */
  inodes(count: number): void {
    this.#usage.claimInodes(count, this.#index.table.size);
  }

  /**
   * Throws EDQUOT if the quota does not permit `count` more bytes, OWNER_EDQUOT if the limit of the owner does not, DISK_EDQUOT
   * if the disk has no room.
   */
  bytes(count: number): void {
    this.#usage.claimBytes(count, this.#contents.pendingBytes);
  }

  /**
   * Called before a file is written up to byte `end`. Throws as `bytes` if its growth is not permitted, plus what
   * checkpoints retain of its old contents.
   */
  write(inode: Inode, end: number): void {
    const growth = Math.max(0, end - inode.size);
    const shared = sharedContents(inode, this.#index.top);
    if (shared === undefined || !this.#retained.isNeeded(shared.layer)) {
      this.bytes(growth);
      return;
    }
    this.bytes(growth + this.#retained.cost(shared.layer, shared.size));
    this.inodes(1);
  }

  /** Throws DISK_EDQUOT if the disk has no room for the records of `count` more inodes. */
  records(count: number): void {
    if (count > 0) this.#usage.claimDisk(count * RECORD);
  }

  /** Bytes by which the delta may grow before the disk has no room; Infinity: the disk has no reserve. */
  get diskRoom(): number {
    return this.#usage.diskRoom;
  }

  /** Whether files and retained contents exceed the quota with `more` bytes added. */
  isAboveQuota(more: number): boolean {
    return this.#usage.isAbove(more + this.#contents.pendingBytes, this.#index.table.size);
  }

  /** Bytes by which all deltas of the owner may grow; Infinity: no limit. */
  get ownerRoom(): number {
    return this.#usage.ownerRoom;
  }

  /** Whether all deltas of the owner exceed its limit with `more` bytes added. */
  isAboveOwnersLimit(more: number): boolean {
    return this.#usage.isAboveOwnersLimit(more + this.#contents.pendingBytes);
  }
}

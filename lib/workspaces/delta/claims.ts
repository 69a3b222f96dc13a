import type { ContentStore } from './contents/content-store.ts';
import { SMALL } from './contents/slabs.ts';
import type { DeltaIndex } from './delta-index.ts';
import type { Inode } from './index/inode.ts';
import { sharedContents } from './layers/live-contents.ts';
import type { Retained } from './layers/retained.ts';
import type { Held, Usage } from './usage.ts';

/** Room on the disk for the records of an inode, in bytes. */
const RECORD = 4096;
/** Unit in which the disk stores files with holes, in bytes. */
const BLOCK = 4096;

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

  /** What the delta has, with what it retains. */
  get held(): Held {
    const { bytes, files } = this.#retained;
    return { bytes: this.#usage.bytes + bytes, files: this.#index.table.size + files };
  }

  /** The same of both directories of the sandbox. */
  get used(): Held {
    const { held } = this;
    const { beside } = this.#usage;
    return { bytes: held.bytes + beside.bytes, files: held.files + beside.files };
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
   * Called before bytes of a file from `offset` to `end` are written. Throws as `bytes` if what is stored may not grow as
   * much, plus what checkpoints retain of its old contents. `emptyBlocks`: the bytes of blocks between two offsets that
   * may be holes.
   */
  write(inode: Inode, offset: number, end: number, emptyBlocks?: (from: number, to: number) => number): void {
    const shared = sharedContents(inode, this.#index.top);
    const retains = shared !== undefined && this.#retained.isNeeded(shared.layer);
    const cost = retains ? this.#retained.cost(shared.layer, shared.stored) : 0;
    try {
      this.bytes(cost + growthBy(inode, offset, end));
    } catch (refusal) {
      if (inode.holes === 0 || emptyBlocks === undefined) throw refusal;
      // What is written over, not into a hole, costs nothing.
      this.bytes(cost + Math.min(growthBy(inode, offset, end), emptyBlocks(blockOf(offset), blockOf(end + BLOCK - 1))));
    }
    if (retains) this.inodes(1);
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

/** The most that a write adds to what is stored of a file. */
function growthBy({ size, holes, hasFile }: Inode, offset: number, end: number): number {
  const longer = Math.max(0, end - size);
  // Contents in a slot have no holes.
  if ((holes === 0 && offset <= size) || (!hasFile && end <= SMALL)) return longer;
  const written = offset === end ? 0 : blockOf(end + BLOCK - 1) - blockOf(offset);
  // The first hole makes its last block count as a whole.
  const last = holes === 0 ? blockOf(size + BLOCK - 1) - size : 0;
  return Math.min(longer + holes, written + last);
}

/** The offset at which the block of a byte begins. */
function blockOf(offset: number): number {
  return offset - (offset % BLOCK);
}

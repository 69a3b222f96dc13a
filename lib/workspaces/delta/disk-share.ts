import { type DiskRoom, diskRoom, type Reserve } from '../../linux/disk-room.ts';
import { EDQUOT, Errno, hostErrno } from '../../linux/errno.ts';

/** EDQUOT for want of room on the disk, of which messages say so. */
export const DISK_EDQUOT = new Errno(EDQUOT.errno);

/** The room is determined again after so many claims, and after this part of it. */
const CLAIMS = 32;
const PART = 64;
const MOST_BYTES = 4 << 20;

/**
 * Returns by how much a delta of `held` bytes may grow. While the disk has a second reserve free, by all beyond that. Then one
 * delta may hold as much as it leaves free, so the largest is refused first, and the others go on.
 */
export function growthOf(held: number, { free, reserve }: DiskRoom): number {
  const ample = Math.max(0, free - reserve);
  const scarce = Math.min(free, reserve);
  return ample + Math.max(0, Math.floor((scarce - held - ample) / 2));
}

/** The part of one delta in the room of the disk. */
export class DiskShare {
  readonly #path: string;
  readonly #reserve: Reserve;
  readonly #refused: () => void;
  /** What may be claimed before the room is determined again. */
  #bytes = 0;
  #claims = 0;

  /** `path`: on the disk; `refused`: called at each refusal. */
  constructor(path: string, reserve: Reserve, refused: () => void) {
    this.#path = path;
    this.#reserve = reserve;
    this.#refused = refused;
  }

  /** Throws DISK_EDQUOT if a delta of `held` bytes may not grow by `count`, and host errors. */
  claim(count: number, held: number): void {
    this.#bytes -= count;
    if (this.#bytes >= 0 && --this.#claims >= 0) return;
    const growth = this.growth(held);
    this.#bytes = Math.min(MOST_BYTES, growth / PART);
    this.#claims = CLAIMS;
    if (count <= growth) return;
    this.#refused();
    throw DISK_EDQUOT;
  }

  /** Returns by how much a delta of `held` bytes may grow. */
  growth(held: number): number {
    if (this.#reserve === 0) return Number.POSITIVE_INFINITY;
    try {
      return growthOf(held, diskRoom(this.#path, this.#reserve));
    } catch (error) {
      throw hostErrno(error);
    }
  }
}

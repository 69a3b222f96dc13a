import type { Inode } from '../index/inode.ts';
import { Slab } from './slab.ts';

const SLOT_SIZES = [4096, 16384, 65536];
/** Contents up to this size are kept in slabs. */
export const SMALL = 65536;
/** No slot. */
export const NO_SLOT = -1;
/** Slots held back until the journal is synced, at most about so many. */
const MAX_DEFERRED = 1024;

/**
 * The small contents of one layer: a slab for each slot size, as `slab-<size>` in its directory. A slot's number tells
 * its size, too, and means something in this layer only.
 */
export class Slabs {
  readonly #slabs: Slab[];

  constructor(directory: string) {
    this.#slabs = SLOT_SIZES.map((size) => new Slab(slabPath(directory, size), size));
  }

  /** A slot of at least `size` bytes, which is at most SMALL. Its bytes are anybody's. */
  allocate(size: number): number {
    const at = SLOT_SIZES.findIndex((slotSize) => slotSize >= size);
    return this.#slabs[at]!.allocate() * SLOT_SIZES.length + at;
  }

  assign(slot: number, inode: Inode): void {
    this.#of(slot).assign(indexOf(slot), inode);
  }

  /** Once all slots that the journal names are assigned. */
  loaded(): void {
    for (const slab of this.#slabs) slab.loaded();
  }

  /** `hold`: the disk may still tell of its holder, so it is not written to before `releaseHeld`. `more`: `trim` follows. */
  free(slot: number, hold: boolean, more = false): void {
    this.#of(slot).free(indexOf(slot), hold, more);
  }

  /** After giving many, until it returns false. */
  trim(): boolean {
    return this.#slabs.map((slab) => slab.trim()).includes(true);
  }

  fits(slot: number, size: number): boolean {
    return size <= this.#of(slot).slotSize;
  }

  /** Contents of this size may stay in the slot: one of the next smaller size is the least that they need. */
  suits(slot: number, size: number): boolean {
    const at = slot % SLOT_SIZES.length;
    return this.fits(slot, size) && (at < 2 || size > SLOT_SIZES[at - 2]!);
  }

  /** How much of `into` was filled. */
  read(slot: number, offset: number, into: Buffer): number {
    return this.#of(slot).read(indexOf(slot), offset, into);
  }

  write(slot: number, offset: number, data: Buffer): void {
    this.#of(slot).write(indexOf(slot), offset, data);
  }

  zero(slot: number, from: number, to: number): void {
    this.#of(slot).zero(indexOf(slot), from, to);
  }

  sync(slot: number): void {
    this.#of(slot).sync();
  }

  syncAll(): void {
    for (const slab of this.#slabs) slab.sync();
  }

  get hasManyDeferred(): boolean {
    return this.#slabs.some((slab) => slab.deferredCount > MAX_DEFERRED);
  }

  /** The journal is on disk. */
  releaseDeferred(): void {
    for (const slab of this.#slabs) slab.releaseDeferred();
  }

  /** An inode whose contents should be moved to a slot taken now, so that a slab gets shorter. */
  get toMove(): Inode | undefined {
    for (const { toMove } of this.#slabs) if (toMove !== undefined) return toMove;
    return undefined;
  }

  close(): void {
    for (const slab of this.#slabs) slab.close();
  }

  #of(slot: number): Slab {
    return this.#slabs[slot % SLOT_SIZES.length]!;
  }
}

/** The slabs a layer may have. */
export function slabPaths(directory: string): string[] {
  return SLOT_SIZES.map((size) => slabPath(directory, size));
}

/** The host file of a slot, and where in it the slot starts. */
export function placeOf(directory: string, slot: number): { path: string; start: number } {
  const size = SLOT_SIZES[slot % SLOT_SIZES.length]!;
  return { path: slabPath(directory, size), start: indexOf(slot) * size };
}

function slabPath(directory: string, size: number): string {
  return `${directory}/slab-${size}`;
}

function indexOf(slot: number): number {
  return Math.floor(slot / SLOT_SIZES.length);
}

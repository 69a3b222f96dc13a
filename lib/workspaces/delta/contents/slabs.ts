import type { Disk } from '../../../disk/disk.ts';
import { Slab } from './slab.ts';
import type { StoredFile } from './stored-file.ts';

const SLOT_SIZES = [4096, 16384, 65536];
/** Number of slabs. */
export const SLOT_CLASSES = SLOT_SIZES.length;
/** Contents up to this size in bytes are stored in slabs. */
export const SMALL = 65536;
/** Number of deferred slots from which the journal is synced early. */
const MAX_DEFERRED = 1024;

/**
 * The small contents of one layer: one slab for each slot size, as `slab-<size>` in its directory. A slot number
 * includes the slab and is valid in this layer only.
 */
export class Slabs {
  readonly #slabs: Slab[];

  constructor(directory: string, disk?: Disk) {
    this.#slabs = SLOT_SIZES.map((size) => new Slab(slabPath(directory, size), size, disk));
  }

  /** By class, as `Slab.used`. */
  get used(): Buffer[] {
    return this.#slabs.map((slab) => slab.used);
  }

  /** See `Slab.keep`. */
  keep(slot: number): void {
    this.#of(slot).keep(indexOf(slot));
  }

  /** See `Slab.holder`. */
  holder(slot: number): StoredFile | undefined {
    return this.#of(slot).holder(indexOf(slot));
  }

  /** See `Slab.rewrite`. */
  rewrite(): void {
    for (const slab of this.#slabs) slab.rewrite();
  }

  /** The open files. */
  get fds(): number[] {
    return this.#slabs.flatMap(({ fd }) => (fd === undefined ? [] : [fd]));
  }

  /** Allocates a slot of at least `size` bytes (at most SMALL). It contains bytes of earlier owners. */
  allocate(size: number): number {
    const at = SLOT_SIZES.findIndex((slotSize) => slotSize >= size);
    return this.#slabs[at]!.allocate() * SLOT_SIZES.length + at;
  }

  /** Records the owner of a slot, allocated here or named by the journal. */
  assign(slot: number, inode: StoredFile): void {
    this.#of(slot).assign(indexOf(slot), inode);
  }

  /** Whether the inode owns the slot. */
  holds(slot: number, inode: StoredFile): boolean {
    return this.#of(slot).holds(indexOf(slot), inode);
  }

  /** See `Slab.loaded`. */
  loaded(isKnown?: boolean): void {
    for (const slab of this.#slabs) slab.loaded(isKnown);
  }

  /**
   * Frees a slot that a record has named. If the journal on the disk may have that record, the slot is not reused before
   * `releaseCovered`. `more`: the caller calls `trim` after freeing others.
   */
  release(slot: number, more = false): void {
    this.#of(slot).release(indexOf(slot), more);
  }

  /** Frees a slot that no record has named. */
  discard(slot: number): void {
    this.#of(slot).discard(indexOf(slot));
  }

  /** Shortens the files by a part, after many slots were freed. Returns whether to call again. */
  trim(): boolean {
    return this.#slabs.map((slab) => slab.trim()).includes(true);
  }

  /** Whether contents of this size fit into the slot. */
  fits(slot: number, size: number): boolean {
    return size <= this.#of(slot).slotSize;
  }

  /** Whether contents of this size may stay in the slot: at most one size class is wasted. */
  suits(slot: number, size: number): boolean {
    const at = slot % SLOT_SIZES.length;
    return this.fits(slot, size) && (at < 2 || size > SLOT_SIZES[at - 2]!);
  }

  /** Reads from a slot and returns the number of bytes read. */
  read(slot: number, offset: number, into: Buffer): number {
    return this.#of(slot).read(indexOf(slot), offset, into);
  }

  /** Writes to a slot. Throws host errors. */
  write(slot: number, offset: number, data: Buffer): void {
    this.#of(slot).write(indexOf(slot), offset, data);
  }

  /** Writes zeros from byte `from` to byte `to`. */
  zero(slot: number, from: number, to: number): void {
    this.#of(slot).zero(indexOf(slot), from, to);
  }

  /** Makes the slab of a slot durable. */
  sync(slot: number): void {
    this.#of(slot).sync();
  }

  /** Number of deferred slots. */
  get deferredCount(): number {
    return this.#slabs.reduce((count, slab) => count + slab.deferredCount, 0);
  }

  /** Whether so many slots are deferred that the journal should be synced. */
  get hasManyDeferred(): boolean {
    return this.#slabs.some((slab) => slab.deferredCount > MAX_DEFERRED);
  }

  /** See `Slab.syncBegins`. */
  syncBegins(): void {
    for (const slab of this.#slabs) slab.syncBegins();
  }

  /** Called when a sync of the whole journal begins. */
  journalSyncBegins(): void {
    this.syncBegins();
    this.coverDeferred();
  }

  /** Called when a sync of the journal begins: it covers the slots that are deferred now. */
  coverDeferred(): void {
    for (const slab of this.#slabs) slab.coverDeferred();
  }

  /** Called when that sync has succeeded: makes the covered slots reusable. */
  releaseCovered(): void {
    for (const slab of this.#slabs) slab.releaseCovered();
  }

  /** An inode whose contents should move to a newly allocated slot, so that a slab becomes shorter. */
  get toMove(): StoredFile | undefined {
    for (const { toMove } of this.#slabs) if (toMove !== undefined) return toMove;
    return undefined;
  }

  /** Closes the files. */
  close(): void {
    for (const slab of this.#slabs) slab.close();
  }

  #of(slot: number): Slab {
    return this.#slabs[slot % SLOT_SIZES.length]!;
  }
}

/** The paths of the slabs that a layer may have. */
export function slabPaths(directory: string): string[] {
  return SLOT_SIZES.map((size) => slabPath(directory, size));
}

/** Returns the host file of a slot and the offset of the slot in bytes. */
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

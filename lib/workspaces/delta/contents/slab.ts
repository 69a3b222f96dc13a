import { dirname } from 'node:path';
import type { Disk } from '../../../disk/disk.ts';
import { hostDisk } from '../../../disk/host-disk.ts';
import { errorCode, hostErrno } from '../../../linux/errno.ts';
import { Bits } from './bits.ts';
import type { StoredFile } from './stored-file.ts';

/** In use, by whom is not known: allocated and not assigned yet, or kept. */
const RESERVED = Symbol('reserved');
/** The file is truncated when free slots at its end have this many bytes, or when all slots are free. */
const TAIL = 1 << 20;
/** A slab that is mostly free, with this many bytes in free slots, is shortened by moving its last contents down. */
const SPARSE = 16 << 20;

const ZEROS = Buffer.alloc(64 * 1024);

/**
 * A host file of slots of one size, each with the contents of one small file: creating or removing one needs no host
 * file. A slot keeps the bytes of its earlier owner, so an owner writes each byte before it is read. Source: J.
 * Bonwick, "The Slab Allocator: An Object-Caching Kernel Memory Allocator", USENIX Summer 1994 (size classes).
 */
export class Slab {
  readonly slotSize: number;
  readonly #path: string;
  readonly #disk: Disk;
  #fd = -1;
  readonly #holders: (StoredFile | typeof RESERVED | undefined)[] = [];
  /** Slots that were freed; some of them were truncated or allocated since. */
  #freeSlots: number[] = [];
  /**
   * Slots that must not be reused before the journal is synced: after a power failure it may still name their owner.
   */
  readonly #deferred = new Set<number>();
  /** Those of them that the next sync of the journal, or the one that runs, makes reusable. */
  readonly #covered = new Set<number>();
  /** Slots that no journal on the disk can name: they were allocated after the last `syncBegins`. */
  #young = new Bits();
  #used = 0;
  /** Upper limit of the file size, in slots. */
  #extent = 0;

  constructor(path: string, slotSize: number, disk = hostDisk) {
    this.#path = path;
    this.slotSize = slotSize;
    this.#disk = disk;
  }

  /** Allocates a slot; the caller assigns or frees it. */
  allocate(): number {
    for (let slot = this.#freeSlots.pop(); slot !== undefined; slot = this.#freeSlots.pop()) {
      if (slot < this.#holders.length && this.#isFree(slot)) return this.#reserve(slot);
    }
    return this.#reserve(this.#holders.length);
  }

  /**
   * Called when all owners that the journal names are assigned. `isKnown`: the disk names no others; else what they do not have
   * is deferred.
   */
  loaded(isKnown = true): void {
    const isOpen = this.#fd !== -1;
    const size = this.#find() ? this.#disk.size(this.#fd) : 0;
    this.#extent = Math.max(this.#extent, Math.ceil(size / this.slotSize));
    if (!isKnown) this.#deferFree();
    if (this.#extent > 0) this.#cutTail();
    // Most of those who load one are idle, and need no descriptor.
    if (!isOpen) this.close();
  }

  /** Records the owner of a slot. If the journal names the slot, earlier slots are free until they are assigned. */
  assign(slot: number, inode: StoredFile): void {
    this.#assign(slot, inode);
  }

  #deferFree(): void {
    this.#freeSlots = [];
    while (this.#holders.length < this.#extent) this.#holders.push(undefined);
    for (const [slot, holder] of this.#holders.entries()) if (holder === undefined) this.#deferred.add(slot);
  }

  #assign(slot: number, inode: StoredFile | typeof RESERVED): void {
    while (this.#holders.length <= slot) {
      this.#freeSlots.push(this.#holders.length);
      this.#holders.push(undefined);
    }
    if (this.#holders[slot] === undefined) this.#used++;
    this.#holders[slot] = inode;
  }

  /** Whether the inode owns the slot. */
  holds(slot: number, inode: StoredFile): boolean {
    return this.#holders[slot] === inode;
  }

  /** Its owner, if that is assigned. */
  holder(slot: number): StoredFile | undefined {
    const holder = this.#holders[slot];
    return holder === RESERVED ? undefined : holder;
  }

  /** The slot is in use, also when its owner is not in memory. Earlier slots are free unless they are in use. */
  keep(slot: number): void {
    this.#assign(slot, RESERVED);
  }

  /** One bit for each slot, the lowest one first: 1 is in use. */
  get used(): Buffer {
    const bits = Buffer.alloc(Math.ceil(this.#holders.length / 8));
    for (const [slot, holder] of this.#holders.entries()) if (holder !== undefined) bits[slot >> 3]! |= 1 << (slot & 7);
    return bits;
  }

  /** See `Slabs.release`. */
  release(slot: number, more: boolean): void {
    this.#free(slot, !this.#young.has(slot), more);
  }

  /** See `Slabs.discard`. */
  discard(slot: number): void {
    this.#free(slot, false, false);
  }

  #free(slot: number, hold: boolean, more: boolean): void {
    if (this.#holders[slot] === undefined) return;
    this.#holders[slot] = undefined;
    this.#used--;
    if (hold) this.#deferred.add(slot);
    else this.#freeSlots.push(slot);
    if (!more) this.#cutTail();
  }

  /**
   * Shortens the file by a part and returns whether to call again: some disks take long to discard a large range at
   * once.
   */
  trim(): boolean {
    if (!this.#hasTail()) return false;
    const before = this.#extent;
    this.#cut(Math.max(this.#holders.length, before - TAIL / this.slotSize));
    return this.#extent < before && this.#hasTail();
  }

  /** Number of deferred slots. */
  get deferredCount(): number {
    return this.#deferred.size;
  }

  /** Called when a sync of the journal begins: from now on that may name all slots in use. */
  syncBegins(): void {
    this.#young = new Bits();
  }

  /** Called when a sync of the journal begins: it covers the slots that are deferred now. */
  coverDeferred(): void {
    for (const slot of this.#deferred) this.#covered.add(slot);
    this.#deferred.clear();
  }

  /** Called when that sync has succeeded: makes the covered slots reusable. */
  releaseCovered(): void {
    for (const slot of this.#covered) this.#freeSlots.push(slot);
    this.#covered.clear();
    this.#cutTail();
  }

  /**
   * An inode whose contents should move to another slot, so that the file becomes shorter; undefined: the slab is well
   * filled.
   */
  get toMove(): StoredFile | undefined {
    // One that is not free yet cannot be moved to.
    const free = this.#holders.length - this.#used - this.#deferred.size - this.#covered.size;
    const spare = free * this.slotSize;
    if (spare < SPARSE || spare < this.#used * this.slotSize) return undefined;
    const last = this.#holders.at(-1);
    return last === RESERVED ? undefined : last;
  }

  /** Reads from a slot. Returns the number of bytes read, fewer at the end of the file. */
  read(slot: number, offset: number, into: Buffer): number {
    try {
      return this.#disk.pread(this.#open(), into, slot * this.slotSize + offset);
    } catch (error) {
      throw hostErrno(error);
    }
  }

  /** Writes all data or throws a host error. */
  write(slot: number, offset: number, data: Buffer): void {
    const fd = this.#open();
    this.#extent = Math.max(this.#extent, slot + 1);
    try {
      this.#disk.pwrite(fd, data, slot * this.slotSize + offset);
    } catch (error) {
      throw hostErrno(error);
    }
  }

  /** Writes zeros from byte `from` to byte `to`. */
  zero(slot: number, from: number, to: number): void {
    if (to > from) this.write(slot, from, ZEROS.subarray(0, to - from));
  }

  /** Makes the file durable (fdatasync(2)). */
  sync(): void {
    if (this.#extent === 0) return;
    try {
      this.#disk.datasync(this.#open());
    } catch (error) {
      throw hostErrno(error);
    }
  }

  /** After a failed sync, for which the system takes what it has not written for clean: writes all slots in use again. */
  rewrite(): void {
    const bytes = Buffer.allocUnsafe(this.slotSize);
    for (const [slot, holder] of this.#holders.entries())
      if (holder !== undefined) this.write(slot, 0, bytes.subarray(0, this.read(slot, 0, bytes)));
  }

  /** Its open file; undefined: there is none, or it is not open. */
  get fd(): number | undefined {
    return this.#fd === -1 ? undefined : this.#fd;
  }

  /** Closes the file. */
  close(): void {
    try {
      if (this.#fd !== -1) this.#disk.close(this.#fd);
    } catch {
      // What must be durable was synced before.
    }
    this.#fd = -1;
  }

  #isFree(slot: number): boolean {
    return this.#holders[slot] === undefined && !this.#deferred.has(slot) && !this.#covered.has(slot);
  }

  #reserve(slot: number): number {
    this.#young.add(slot);
    this.#holders[slot] = RESERVED;
    this.#used++;
    return slot;
  }

  #cutTail(): void {
    if (this.#hasTail()) this.#cut(this.#holders.length);
  }

  #hasTail(): boolean {
    const holders = this.#holders;
    while (holders.length > 0 && this.#isFree(holders.length - 1)) holders.pop();
    if (holders.length === 0) this.#freeSlots = [];
    return holders.length === 0 ? this.#extent > 0 : (this.#extent - holders.length) * this.slotSize >= TAIL;
  }

  #cut(extent: number): void {
    try {
      this.#disk.truncate(this.#open(), extent * this.slotSize);
      this.#extent = extent;
    } catch {
      // The file only stays longer than necessary.
    }
  }

  /** Opens the file if it exists. */
  #find(): boolean {
    if (this.#fd !== -1) return true;
    try {
      this.#fd = this.#disk.open(this.#path, 'write');
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw hostErrno(error);
    }
    return this.#fd !== -1;
  }

  #open(): number {
    if (this.#find()) return this.#fd;
    try {
      makeFolders(this.#disk, dirname(this.#path));
      this.#fd = this.#disk.open(this.#path, 'create');
    } catch (error) {
      throw hostErrno(error);
    }
    return this.#fd;
  }
}

/** The folder and those above it that are missing. */
function makeFolders(disk: Disk, path: string): void {
  try {
    disk.mkdir(path);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    if (errorCode(error) !== 'ENOENT') throw error;
    makeFolders(disk, dirname(path));
    disk.mkdir(path);
  }
}

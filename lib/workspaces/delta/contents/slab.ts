import { constants, fdatasyncSync, ftruncateSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { closeQuietly } from '../../../linux/close.ts';
import { hostErrno } from '../../../linux/errno.ts';
import { readFile } from './host-io.ts';
import type { StoredFile } from './stored-file.ts';

/** Allocated but not assigned yet. */
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
  #used = 0;
  /** Upper limit of the file size, in slots. */
  #extent = 0;

  constructor(path: string, slotSize: number) {
    this.#path = path;
    this.slotSize = slotSize;
  }

  /** Allocates a slot; the caller assigns or frees it. */
  allocate(): number {
    for (let slot = this.#freeSlots.pop(); slot !== undefined; slot = this.#freeSlots.pop()) {
      if (slot < this.#holders.length && this.#isFree(slot)) return this.#reserve(slot);
    }
    return this.#reserve(this.#holders.length);
  }

  /** Called when all owners that the journal names are assigned. */
  loaded(): void {
    const size = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    this.#extent = Math.max(this.#extent, Math.ceil(size / this.slotSize));
    if (this.#extent > 0) this.#cutTail();
  }

  /** Records the owner of a slot. If the journal names the slot, earlier slots are free until they are assigned. */
  assign(slot: number, inode: StoredFile): void {
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

  /** Frees a slot. `hold`: not reused before the journal was synced. `more`: the file is shortened later, by `trim`. */
  free(slot: number, hold: boolean, more: boolean): void {
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
    const spare = (this.#holders.length - this.#used) * this.slotSize;
    if (spare < SPARSE || spare < this.#used * this.slotSize) return undefined;
    const last = this.#holders.at(-1);
    return last === RESERVED ? undefined : last;
  }

  /** Reads from a slot. Returns the number of bytes read, fewer at the end of the file. */
  read(slot: number, offset: number, into: Buffer): number {
    const fd = this.#open();
    const start = slot * this.slotSize + offset;
    return readFile(fd, start, into);
  }

  /** Writes all data or throws a host error. */
  write(slot: number, offset: number, data: Buffer): void {
    const fd = this.#open();
    const start = slot * this.slotSize + offset;
    this.#extent = Math.max(this.#extent, slot + 1);
    try {
      for (let done = 0; done < data.length; ) {
        done += writeSync(fd, data, done, data.length - done, start + done);
      }
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
      fdatasyncSync(this.#open());
    } catch (error) {
      throw hostErrno(error);
    }
  }

  /** Closes the file. */
  close(): void {
    if (this.#fd !== -1) closeQuietly(this.#fd);
    this.#fd = -1;
  }

  #isFree(slot: number): boolean {
    return this.#holders[slot] === undefined && !this.#deferred.has(slot) && !this.#covered.has(slot);
  }

  #reserve(slot: number): number {
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
      ftruncateSync(this.#open(), extent * this.slotSize);
      this.#extent = extent;
    } catch {
      // The file only stays longer than necessary.
    }
  }

  #open(): number {
    if (this.#fd !== -1) return this.#fd;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      this.#fd = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
      return this.#fd;
    } catch (error) {
      throw hostErrno(error);
    }
  }
}

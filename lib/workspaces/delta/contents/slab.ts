import { constants, fdatasyncSync, ftruncateSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { closeQuietly } from '../../../linux/close.ts';
import { hostErrno } from '../../../linux/errno.ts';
import type { Inode } from '../index/inode.ts';
import { readFile } from './host-io.ts';

/** Given out, and not yet an inode's. */
const RESERVED = Symbol('reserved');
/** Slots beyond the last one in use are cut off the file when they are this many bytes, or all there is. */
const TAIL = 1 << 20;
/** A file that is mostly free slots, and this many bytes of them, is made shorter by moving its last contents down. */
const SPARSE = 16 << 20;

const ZEROS = Buffer.alloc(64 * 1024);

/**
 * One host file cut into slots of one size, each with the contents of one small file: making or removing one costs no
 * file of the host. A slot keeps the bytes of whoever had it before, so a holder writes each byte before it is read.
 * (After slab allocation, Bonwick 1994: classes of equal size, so that what is freed fits whatever comes next.)
 */
export class Slab {
  readonly slotSize: number;
  readonly #path: string;
  #fd = -1;
  readonly #holders: (Inode | typeof RESERVED | undefined)[] = [];
  /** Once free; some were cut off or taken since. */
  #freeSlots: number[] = [];
  /** Free but for the disk, which may still tell of a holder after a power failure. */
  readonly #deferred = new Set<number>();
  #used = 0;
  /** Slots the host's file may reach to. */
  #extent = 0;

  constructor(path: string, slotSize: number) {
    this.#path = path;
    this.slotSize = slotSize;
  }

  /** A slot for somebody who says so by `assign`, or gives it back. */
  allocate(): number {
    for (let slot = this.#freeSlots.pop(); slot !== undefined; slot = this.#freeSlots.pop()) {
      if (slot < this.#holders.length && this.#isFree(slot)) return this.#reserve(slot);
    }
    return this.#reserve(this.#holders.length);
  }

  /** Once all holders that the journal names are assigned. */
  loaded(): void {
    const size = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    this.#extent = Math.max(this.#extent, Math.ceil(size / this.slotSize));
    if (this.#extent > 0) this.#cutTail();
  }

  /** Also for a slot that the journal names: those before it are free until they are assigned. */
  assign(slot: number, inode: Inode): void {
    while (this.#holders.length <= slot) {
      this.#freeSlots.push(this.#holders.length);
      this.#holders.push(undefined);
    }
    if (this.#holders[slot] === undefined) this.#used++;
    this.#holders[slot] = inode;
  }

  /** `hold`: not to be written to before `releaseHeld`. `more`: the file is not made shorter yet, `trim` follows. */
  free(slot: number, hold: boolean, more: boolean): void {
    if (this.#holders[slot] === undefined) return;
    this.#holders[slot] = undefined;
    this.#used--;
    if (hold) this.#deferred.add(slot);
    else this.#freeSlots.push(slot);
    if (!more) this.#cutTail();
  }

  /** Makes the file shorter by a part, and returns whether there is more: disks that discard take long for all at once. */
  trim(): boolean {
    if (!this.#hasTail()) return false;
    const before = this.#extent;
    this.#cut(Math.max(this.#holders.length, before - TAIL / this.slotSize));
    return this.#extent < before && this.#hasTail();
  }

  get deferredCount(): number {
    return this.#deferred.size;
  }

  releaseDeferred(): void {
    for (const slot of this.#deferred) this.#freeSlots.push(slot);
    this.#deferred.clear();
    this.#cutTail();
  }

  /** Whose contents to move to another slot, so that the file gets shorter; undefined: it is well filled. */
  get toMove(): Inode | undefined {
    const spare = (this.#holders.length - this.#used) * this.slotSize;
    if (spare < SPARSE || spare < this.#used * this.slotSize) return undefined;
    const last = this.#holders.at(-1);
    return last === RESERVED ? undefined : last;
  }

  /** How much of `into` was filled: less where the file ends. */
  read(slot: number, offset: number, into: Buffer): number {
    const fd = this.#open();
    const start = slot * this.slotSize + offset;
    return readFile(fd, start, into);
  }

  /** Writes all of it or throws. */
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

  zero(slot: number, from: number, to: number): void {
    if (to > from) this.write(slot, from, ZEROS.subarray(0, to - from));
  }

  sync(): void {
    if (this.#extent === 0) return;
    try {
      fdatasyncSync(this.#open());
    } catch (error) {
      throw hostErrno(error);
    }
  }

  close(): void {
    if (this.#fd !== -1) closeQuietly(this.#fd);
    this.#fd = -1;
  }

  #isFree(slot: number): boolean {
    return this.#holders[slot] === undefined && !this.#deferred.has(slot);
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
      // It is only longer than it need be.
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

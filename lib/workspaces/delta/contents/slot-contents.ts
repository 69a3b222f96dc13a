import { crc32 } from 'node:zlib';
import { Postponed } from '../../../fuse/filesystem.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { ENOSPC } from '../../../linux/errno.ts';
import type { ContentJournal } from './content-journal.ts';
import type { DamageReports } from './damage-reports.ts';
import type { DataFiles } from './data-files.ts';
import { DurableCopies } from './durable-copies.ts';
import { writeFile } from './host-io.ts';
import type { OwnSyncs } from './host-syncs.ts';
import { SMALL } from './slabs.ts';
import { SlotMoves } from './slot-moves.ts';
import { type DataRef, NO_SLOT, type StoredFile } from './stored-file.ts';
import type { TopLayer } from './top-layer.ts';
import type { Unsynced } from './unsynced.ts';

const ZEROS = Buffer.alloc(SMALL);

/** Reads from the slots of frozen layers; returns the number of bytes read. */
export interface FrozenReader {
  read(root: string, layer: string, slot: number, offset: number, into: Buffer): number;
}

export interface SlotOptions {
  frozen: FrozenReader;
  syncs: OwnSyncs;
  /** Whether a long operation runs on the delta. Absent: never. */
  isHeld?: (() => boolean) | undefined;
}

/**
 * The contents of small files, each in a slot with its checksum. Contents that were acknowledged are never overwritten:
 * a change appends to them or writes all of them to another slot, and is journaled then.
 */
export class SlotContents {
  readonly #top: TopLayer;
  readonly #frozen: FrozenReader;
  readonly #files: DataFiles;
  readonly #journal: ContentJournal;
  readonly #unsynced: Unsynced;
  readonly #damages: DamageReports;
  readonly #moves: SlotMoves;
  /** Copies of contents that become too large for a slot. */
  readonly #durable: DurableCopies;

  /** `files`: where contents go that become too large. */
  constructor(
    top: TopLayer,
    { frozen, syncs, isHeld = () => false }: SlotOptions,
    files: DataFiles,
    journal: ContentJournal,
    unsynced: Unsynced,
    damages: DamageReports,
  ) {
    this.#top = top;
    this.#frozen = frozen;
    this.#files = files;
    this.#journal = journal;
    this.#unsynced = unsynced;
    this.#damages = damages;
    this.#moves = new SlotMoves(top, syncs, isHeld);
    this.#durable = new DurableCopies(files, syncs);
  }

  /** Called when the inode was removed. */
  removed(inode: StoredFile): void {
    this.#durable.delete(inode);
  }

  /** Called before the layer is frozen or abandoned. */
  layerEnds(): void {
    this.#durable.clear();
  }

  close(): void {
    this.#moves.close();
  }

  /** Returns all contents of a file without a data file. Throws Damage. */
  all(inode: StoredFile): Buffer {
    const bytes = Buffer.allocUnsafeSlow(inode.size);
    if (inode.size > 0) this.read(inode, 0, bytes);
    return bytes;
  }

  /** Reads from a slot. Throws Damage if its contents do not match their checksum. */
  read(inode: StoredFile, offset: number, into: Buffer): void {
    const { expected, size } = inode;
    const whole = offset === 0 && into.length === size;
    // A part cannot be verified, so the whole slot is verified once.
    if (!whole && !inode.verified && expected !== undefined) this.all(inode);
    const { layer, slot } = inode.requireData();
    const done =
      layer === this.#top.layer
        ? this.#top.slabs.read(slot, offset, into)
        : this.#frozen.read(this.#top.root, layer, slot, offset, into);
    if (done !== into.length) throw this.#damages.of(inode, 'a part of its contents is missing');
    if (!whole || expected === undefined) return;
    if (crc32(into) !== expected) throw this.#damages.of(inode, 'its contents do not match their checksum');
    inode.verified = true;
  }

  /**
   * Writes to a slot and journals it. Returns false if the contents belong in the data file, which then has what there
   * was. Existing bytes are never overwritten, so that a crash leaves contents that match their checksum.
   */
  write(inode: StoredFile, offset: number, data: Buffer): boolean {
    const { size: before } = inode;
    const size = Math.max(before, offset + data.length);
    if (!this.#staysSmall(inode, size)) return false;
    if (offset >= before && knowsSum(inode)) {
      const sum = crc32(data, sumWithZeros(inode, offset));
      this.#grow(inode, size, sum, (slot) => {
        this.#top.slabs.zero(slot, before, offset);
        this.#top.slabs.write(slot, offset, data);
      });
    } else if (offset === 0 && size === data.length) {
      this.#replaceContents(inode, data);
    } else {
      const bytes = this.#resized(inode, size);
      data.copy(bytes, offset);
      this.#replaceContents(inode, bytes);
    }
    return true;
  }

  /** Sets the size, in bytes, as `write`. */
  truncate(inode: StoredFile, size: number): boolean {
    // Lost contents may be truncated to 0.
    if (inode.lost && size === 0 && !this.#top.isFrozen(inode)) inode.hasFile = inode.lost = false;
    if (!this.#staysSmall(inode, size)) return false;
    const { size: before } = inode;
    if (size === 0) this.#changed(inode, NO_SLOT, 0, undefined);
    else if (size >= before && knowsSum(inode)) {
      this.#grow(inode, size, sumWithZeros(inode, size), (slot) => this.#top.slabs.zero(slot, before, size));
    } else if (size < before && !this.#top.isFrozen(inode) && this.#top.slabs.suits(inode.requireData().slot, size)) {
      this.#shorten(inode, size);
    } else this.#replaceContents(inode, this.#resized(inode, size));
    return true;
  }

  /** Whether contents of this size are, or will be, in a slot; larger ones are moved to a data file. */
  #staysSmall(inode: StoredFile, size: number): boolean {
    if (inode.hasFile) return false;
    if (size <= SMALL) return true;
    if (inode.size > 0) this.#moveToFile(inode);
    return false;
  }

  /** Appends to contents by `fill`: in place, or after a copy in a larger slot. */
  #grow(inode: StoredFile, size: number, sum: number, fill: (slot: number) => void): void {
    const { slot } = inode.requireData();
    if (slot !== NO_SLOT && !inode.shortened && !this.#top.isFrozen(inode) && this.#top.slabs.fits(slot, size)) {
      fill(slot);
      this.#changed(inode, slot, size, sum);
      return;
    }
    this.#inSlot(size, (other) => {
      if (inode.size > 0) this.#top.slabs.write(other, 0, this.all(inode));
      fill(other);
      this.#changed(inode, other, size, sum);
      inode.verified = true;
    });
  }

  /**
   * Shortens contents in their slot. Nothing is written: until a sync the journal on disk may still record the longer
   * contents.
   */
  #shorten(inode: StoredFile, size: number): void {
    const bytes = Buffer.allocUnsafe(size);
    this.read(inode, 0, bytes);
    this.#changed(inode, inode.requireData().slot, size, crc32(bytes));
  }

  /** Writes new contents to another slot. */
  #replaceContents(inode: StoredFile, bytes: Buffer): void {
    this.#inSlot(bytes.length, (slot) => {
      this.#top.slabs.write(slot, 0, bytes);
      this.#changed(inode, slot, bytes.length, crc32(bytes));
      inode.verified = true;
    });
  }

  /** Gives a file these contents, which are in a slot then. At most `SMALL` bytes. */
  put(inode: StoredFile, bytes: Buffer): void {
    if (bytes.length === 0) this.#changed(inode, NO_SLOT, 0, undefined);
    else this.#replaceContents(inode, bytes);
  }

  #inSlot(size: number, act: (slot: number) => void): void {
    const slot = this.#top.slabs.allocate(size);
    try {
      act(slot);
    } catch (error) {
      this.#top.slabs.discard(slot);
      throw error;
    }
  }

  /** Returns the contents, truncated or padded with zeros. */
  #resized(inode: StoredFile, size: number): Buffer {
    const bytes = Buffer.alloc(size);
    this.all(inode).copy(bytes);
    return bytes;
  }

  #changed(inode: StoredFile, slot: number, size: number, sum: number | undefined): void {
    this.#replace(inode, slot, (data) => this.#journal.changed(inode, data, size, sum));
    this.#unsynced.add(inode);
  }

  /** Copies contents of a frozen layer to the writable one. Throws Damage and host errors. */
  copy(inode: StoredFile): void {
    this.#inSlot(inode.size, (slot) => {
      this.#top.slabs.write(slot, 0, this.all(inode));
      this.#replace(inode, slot, (place) => this.#journal.placed(inode, place));
    });
  }

  /**
   * Moves contents to an earlier slot, so that the slab becomes shorter. A failure is ignored, since it is not one of
   * the current operation.
   */
  move(inode: StoredFile): void {
    if (this.#moves.isMoving) return;
    const slot = this.#top.slabs.allocate(inode.size);
    const record = () => this.#replace(inode, slot, (data) => this.#journal.placed(inode, data));
    try {
      this.#top.slabs.write(slot, 0, this.all(inode));
      if (!this.#unsynced.has(inode) && this.#moves.inBackground) {
        this.#moves.begin({ inode, to: slot, record }, () => this.#moveNext());
        return;
      }
      if (!this.#unsynced.has(inode)) this.#top.slabs.sync(slot);
      record();
    } catch {
      this.#top.slabs.discard(slot);
    }
  }

  /** Releases during a move in the background moved nothing. */
  #moveNext(): void {
    const { toMove } = this.#top.slabs;
    if (toMove !== undefined) this.move(toMove);
  }

  /** Throws Postponed while another thread makes durable contents durable in the data file. */
  #moveToFile(inode: StoredFile): void {
    const data = { layer: this.#top.layer, id: inode.id, slot: NO_SLOT };
    const isDurable = this.#durable.take(inode, data);
    try {
      if (!isDurable) this.#copyToFile(inode, data);
      this.#replace(inode, NO_SLOT, (to) => this.#journal.placed(inode, to));
      inode.hasFile = true;
    } catch (error) {
      if (!(error instanceof Postponed)) this.#files.remove(data);
      throw error;
    }
  }

  #copyToFile(inode: StoredFile, data: DataRef): void {
    const fd = this.#files.open(data, true);
    try {
      const bytes = this.all(inode);
      if (writeFile(fd, 0, bytes) !== bytes.length) throw ENOSPC;
    } finally {
      closeQuietly(fd);
    }
    if (!this.#unsynced.has(inode)) this.#durable.sync(inode, data);
  }

  #replace(inode: StoredFile, slot: number, journal: (data: DataRef) => void): void {
    const before = inode.requireData();
    const frozen = this.#top.isFrozen(inode);
    journal({ layer: this.#top.layer, id: slot === NO_SLOT ? inode.id : before.id, slot });
    if (before.slot === slot && !frozen) return;
    if (slot !== NO_SLOT) this.#top.slabs.assign(slot, inode);
    if (before.slot === NO_SLOT || frozen) return;
    this.#top.slabs.release(before.slot);
  }
}

/** False for contents written by an older server. */
function knowsSum({ size, expected }: StoredFile): boolean {
  return size === 0 || expected !== undefined;
}

/** Returns the checksum of the contents padded with zeros up to `end`. */
function sumWithZeros({ size, expected }: StoredFile, end: number): number {
  return crc32(ZEROS.subarray(0, end - size), size === 0 ? 0 : expected);
}

import { crc32 } from 'node:zlib';
import { Counted, type Steps } from '../../../fuse/connection/steps.ts';
import type { HostFile } from '../../../host-tree/host-file.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { ENOSPC } from '../../../linux/errno.ts';
import type { Time } from '../../../linux/time.ts';
import { Damage } from '../damage.ts';
import { type DataRef, type FileRef, type Inode, NO_SLOT } from '../index/inode.ts';
import { layerPath } from '../layers/layer-path.ts';
import type { SyncedFile, SyncedFiles } from './background-sync.ts';
import { DataFiles, statData } from './data-files.ts';
import { openIfExists, readFile, writeFile } from './host-io.ts';
import { LargeCopies } from './large-copies.ts';
import type { LargeFrees } from './large-frees.ts';
import { placeOf, Slabs, SMALL, slabPaths } from './slabs.ts';
import { Unsynced } from './unsynced.ts';

const LOST = 'its data file is missing or has a wrong size';
/** Limit of reported damaged files. */
const MAX_REPORTED = 1000;
/** Inodes examined in one step. */
const AT_ONCE = 16;
const ZEROS = Buffer.alloc(SMALL);

/** Reads from the slots of frozen layers; returns the number of bytes read. */
export interface FrozenReader {
  read(root: string, layer: string, slot: number, offset: number, into: Buffer): number;
}

/**
 * The journal of the store. Each call makes its record durable against a crash of the server before the store
 * continues.
 */
export interface ContentJournal {
  /** Contents were moved; `fileTime`: the mtime of their data file, if it changed. */
  placed(inode: Inode, data: DataRef, fileTime?: Time): void;
  /** Contents were changed: location, size in bytes and CRC-32, if they are in a slot. */
  changed(inode: Inode, data: DataRef, size: number, sum: number | undefined): void;
  /** Called once for each damaged file. */
  damaged(inode: Inode, message: string): void;
}

/**
 * The contents of a delta's files. Small ones are in slots of slabs; the journal records location, size and time of
 * each write. Each larger one has a host file, which has its own size and time. Contents that outgrow their location
 * are copied, then journaled, then removed from the old location, so a crash leaves them complete in one of the two.
 */
export class ContentStore {
  readonly #root: string;
  readonly #files: DataFiles;
  readonly #frozen: FrozenReader;
  #slabs: Slabs;
  #layer: string;
  readonly #journal: ContentJournal;
  /** Layers frozen since the last sync. */
  readonly #unsyncedLayers = new Set<string>();
  readonly #unsyncedFiles: DataRef[] = [];
  /** Inodes that were reported as damaged. */
  readonly #reported = new Set<number>();
  /** Files with contents that may not be durable. */
  readonly #unsynced = new Unsynced();

  /** `root`: directory of all layers; `layer`: the writable one. */
  constructor(
    root: string,
    layer: string,
    { frozen, copies, frees }: { frozen: FrozenReader; copies: LargeCopies; frees: LargeFrees },
    journal: ContentJournal,
  ) {
    this.#root = root;
    this.#files = new DataFiles(root, copies, frees);
    this.#frozen = frozen;
    this.#slabs = new Slabs(layerPath(root, layer));
    this.#layer = layer;
    this.#journal = journal;
  }

  /** Freezes the current layer; later writes go to `layer`. */
  freeze(layer: string): void {
    this.#slabs.close();
    this.#unsyncedLayers.add(this.#layer);
    for (const ref of this.#unsynced.dataFiles()) this.#unsyncedFiles.push(ref);
    this.#unsynced.clear();
    this.#slabs = new Slabs(layerPath(this.#root, layer));
    this.#layer = layer;
  }

  /** As `freeze`; contents that are in no frozen layer are abandoned. */
  reset(layer: string): void {
    this.freeze(layer);
    this.#unsyncedFiles.length = 0;
    this.#unsyncedLayers.clear();
  }

  /** Whether the contents are in a frozen layer: they are shared and must be copied before a change. */
  isFrozen(inode: Inode): boolean {
    return inode.layer !== undefined && inode.layer !== this.#layer;
  }

  /**
   * Gives an inode with a frozen data file one of its own: a copy (as a reflink if the file system supports it), or
   * none without `contents`. Throws Postponed while a large file is copied, Damage for a lost one, and host errors.
   */
  thawFile(inode: Inode, contents: boolean): void {
    const to = { layer: this.#layer, id: inode.data!.id, slot: NO_SLOT };
    if (!contents) {
      this.#journal.placed(inode, to);
      return;
    }
    if (inode.lost) throw this.#damage(inode, LOST);
    const fd = this.#files.open(inode.data!, false, false);
    try {
      const time = this.#files.copy(fd, to);
      this.#journal.placed(inode, to, time);
      inode.hasFile = true;
      this.#unsynced.add(inode);
    } catch (error) {
      this.#files.remove(to);
      throw error;
    } finally {
      closeQuietly(fd);
    }
  }

  /** Bytes of large files that are being copied in. */
  get pendingBytes(): number {
    return this.#files.pendingBytes(this.#layer);
  }

  /** Throws Postponed while an open host file is being copied in. */
  awaitCopy(from: number): void {
    this.#files.awaitCopy(from, this.#layer);
  }

  /** Moves shared contents to the writable layer. Throws Damage and host errors. */
  moveToTop(inode: Inode): void {
    const data = inode.data!;
    const to = { layer: this.#layer, id: data.id, slot: NO_SLOT };
    if (inode.hasFile) {
      this.#files.link(data, to);
      this.#journal.placed(inode, to, this.#files.stat(to)!.mtime);
      inode.hasFile = true;
    } else if (inode.size === 0) {
      this.#journal.placed(inode, to);
    } else {
      const slot = this.#slabs.allocate(inode.size);
      try {
        this.#slabs.write(slot, 0, this.small(inode));
        this.#replace(inode, slot, (place) => this.#journal.placed(inode, place));
      } catch (error) {
        this.#slabs.free(slot, false);
        throw error;
      }
    }
    this.#unsynced.add(inode);
  }

  /** Returns the disk usage of a layer in bytes, in steps. */
  diskSize(layer: string): Steps<number> {
    return this.#files.diskSize(layer);
  }

  /**
   * Opens the data file for reading, and for writing unless it is frozen; created if there is none. The caller closes
   * it. Throws Damage and host errors.
   */
  open(inode: Inode): number {
    if (inode.lost) throw this.#damage(inode, LOST);
    if (inode.hasFile) return this.#files.open(inode.data!, false, !this.isFrozen(inode));
    const data = { ...inode.data!, layer: this.#layer };
    if (this.isFrozen(inode)) this.#journal.placed(inode, data);
    const fd = this.#files.open(data, true);
    inode.hasFile = true;
    return fd;
  }

  /** Returns mtime and size of the data file, by its open `fd` if there is one. */
  fileStat(inode: Inode, fd?: number): { mtime: Time; size: number } {
    if (inode.lost) throw this.#damage(inode, LOST);
    const file = fd ?? this.#files.open(inode.data!, false, false);
    try {
      return statData(file);
    } finally {
      if (fd === undefined) closeQuietly(file);
    }
  }

  /** Identifies the existing data file for other parts of the server. */
  hostFile(inode: Inode): HostFile {
    return this.#files.hostFile(inode.data!);
  }

  /**
   * Reads up to `into.length` bytes at byte `offset` and returns the number of bytes read. `fd` opens the data file, if
   * there is one. Throws Damage and host errors.
   */
  read(inode: Inode, offset: number, into: Buffer, fd: () => number): number {
    if (inode.hasFile) return readFile(fd(), offset, into);
    const length = Math.min(into.length, inode.size - offset);
    if (length <= 0) return 0;
    this.#readSlot(inode, offset, into.subarray(0, length));
    return length;
  }

  /** Returns all contents of a file without a data file. Throws Damage. */
  small(inode: Inode): Buffer {
    const bytes = Buffer.allocUnsafeSlow(inode.size);
    if (inode.size > 0) this.#readSlot(inode, 0, bytes);
    return bytes;
  }

  /** Reads from a slot. Throws Damage if its contents do not match their checksum. */
  #readSlot(inode: Inode, offset: number, into: Buffer): void {
    const { expected, size } = inode;
    const whole = offset === 0 && into.length === size;
    // A part cannot be verified, so the whole slot is verified once.
    if (!whole && !inode.verified && expected !== undefined) this.small(inode);
    const { layer, slot } = inode.data!;
    const done =
      layer === this.#layer
        ? this.#slabs.read(slot, offset, into)
        : this.#frozen.read(this.#root, layer, slot, offset, into);
    if (done !== into.length) throw this.#damage(inode, 'a part of its contents is missing');
    if (!whole || expected === undefined) return;
    if (crc32(into) !== expected) throw this.#damage(inode, 'its contents do not match their checksum');
    inode.verified = true;
  }

  #damage(inode: Inode, what: string): Damage {
    const { layer, slot, id } = inode.data!;
    const place = slot === NO_SLOT ? `data file ${id}` : `slot ${slot}`;
    const message = `${what} (layer ${layer}, ${place})`;
    if (!this.#reported.has(inode.id) && this.#reported.size < MAX_REPORTED) {
      this.#reported.add(inode.id);
      this.#journal.damaged(inode, message);
    }
    return new Damage(`a file is damaged: ${message}`);
  }

  /**
   * Writes to a slot and journals it. Returns false if the contents belong in the data file, which then has what there
   * was. Existing bytes are never overwritten, so that a crash leaves contents that match their checksum.
   */
  writeSmall(inode: Inode, offset: number, data: Buffer): boolean {
    const { size: before } = inode;
    const size = Math.max(before, offset + data.length);
    if (!this.#staysSmall(inode, size)) return false;
    if (offset >= before && knowsSum(inode)) {
      const sum = crc32(data, sumWithZeros(inode, offset));
      this.#grow(inode, size, sum, (slot) => {
        this.#slabs.zero(slot, before, offset);
        this.#slabs.write(slot, offset, data);
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

  /** Sets the size, in bytes, as `writeSmall`. */
  truncateSmall(inode: Inode, size: number): boolean {
    // Lost contents may be truncated to 0.
    if (inode.lost && size === 0 && !this.isFrozen(inode)) inode.hasFile = inode.lost = false;
    if (!this.#staysSmall(inode, size)) return false;
    const { size: before } = inode;
    if (size === 0) this.#changed(inode, NO_SLOT, 0, undefined);
    else if (size >= before && knowsSum(inode)) {
      this.#grow(inode, size, sumWithZeros(inode, size), (slot) => this.#slabs.zero(slot, before, size));
    } else if (size < before && !this.isFrozen(inode) && this.#slabs.suits(inode.data!.slot, size)) {
      this.#shorten(inode, size);
    } else this.#replaceContents(inode, this.#resized(inode, size));
    return true;
  }

  /**
   * Writes the contents of a new file to a slot. A record that names the location keeps them; otherwise the caller
   * discards them.
   */
  putSmall(bytes: Buffer, id: number): DataRef {
    const slot = this.#slabs.allocate(bytes.length);
    const ref = { layer: this.#layer, id, slot };
    try {
      this.#slabs.write(slot, 0, bytes);
    } catch (error) {
      this.discard(ref);
      throw error;
    }
    return ref;
  }

  /** As `putSmall`, from an open host file of any size. Returns the data file's mtime. */
  putFile(from: number, ref: FileRef): Time {
    return this.#files.copy(from, ref);
  }

  /** Removes contents that no record names. */
  discard(ref: DataRef): void {
    if (ref.slot === NO_SLOT) this.#files.remove(ref);
    else this.#slabs.free(ref.slot, false);
  }

  /** Assigns contents to an inode, after a record named their location. */
  assign(inode: Inode): void {
    const { slot } = inode.data!;
    if (slot !== NO_SLOT) this.#slabs.assign(slot, inode);
    this.#unsynced.add(inode);
  }

  /** Records that a data file was written to. */
  markUnsynced(inode: Inode): void {
    this.#unsynced.add(inode);
  }

  /**
   * Removes the contents of a removed inode. The removal is journaled already. `more`: other inodes are released with
   * it.
   */
  release(inode: Inode, more: boolean): void {
    const synced = !this.#unsynced.delete(inode);
    if (this.isFrozen(inode)) return;
    if (inode.hasFile) this.#files.remove(inode.data!);
    if (inode.data!.slot === NO_SLOT) return;
    this.#slabs.free(inode.data!.slot, synced, more);
    const toMove = more ? undefined : this.#slabs.toMove;
    if (toMove !== undefined) this.#move(toMove);
  }

  /** Shortens the slabs by a part, after many releases. Returns whether to call again. */
  trim(): boolean {
    return this.#slabs.trim();
  }

  /** Marks an inode as lost: its data file is known to have existed. */
  static markLost(inode: Inode): void {
    inode.hasFile = inode.lost = true;
    inode.size = Math.max(inode.expected ?? 0, 1);
  }

  /** Completes inodes of frozen layers from their data files, in steps. `sizes`: whether recorded sizes are final. */
  static *findFrozen(root: string, inodes: Iterable<Inode>, sizes = true): Steps<void> {
    const files = new DataFiles(root, new LargeCopies());
    const counted = new Counted(AT_ONCE);
    for (const inode of inodes) {
      yield* counted.one();
      if (inode.data === undefined || inode.data.slot !== NO_SLOT) continue;
      const stat = files.stat(inode.data);
      if (!sizes && (inode.expected ?? 0) > 0) inode.expected = -1;
      const { expected } = inode;
      inode.hasFile = stat !== undefined;
      inode.size = stat?.size ?? 0;
      // The size was recorded at the freeze and cannot have changed since.
      const other = expected !== undefined && expected !== inode.size && !(expected === -1 && inode.hasFile);
      if (other) ContentStore.markLost(inode);
    }
  }

  /**
   * Finds the data files of `inodes` in the writable layer and removes all other files there, in steps. `found`
   * receives size and mtime of each.
   */
  *load(inodes: Iterable<Inode>, found: (inode: Inode, size: number, mtime: Time) => void): Steps<void> {
    const counted = new Counted(AT_ONCE);
    const byId = new Map<number, Inode>();
    for (const inode of inodes) {
      yield* counted.one();
      if (inode.data === undefined || this.isFrozen(inode)) continue;
      if (inode.data.slot === NO_SLOT) byId.set(inode.data.id, inode);
      else this.#slabs.assign(inode.data.slot, inode);
    }
    this.#slabs.loaded();
    yield* this.#files.sweep(this.#layer, (id, size, mtime) => {
      const inode = byId.get(id);
      if (inode === undefined) return false;
      inode.hasFile = true;
      found(inode, size, mtime);
      return true;
    });
  }

  /**
   * Opens the host file whose sync makes the contents of an inode durable, which the caller closes; undefined: there is
   * none. From then on the contents count as durable; the caller calls `markUnsynced` if the sync fails.
   */
  openToSync(inode: Inode, datasync: boolean): SyncedFile | undefined {
    const { data } = inode;
    const fd = inode.hasFile
      ? this.#files.open(data!, false)
      : data !== undefined && data.slot !== NO_SLOT
        ? openIfExists(placeOf(layerPath(this.#root, data.layer), data.slot).path)
        : undefined;
    // Not later: until the journal is synced, its slot must not get other contents.
    this.#unsynced.delete(inode);
    return fd === undefined ? undefined : { file: fd, datasync: datasync || !inode.hasFile };
  }

  /** Returns the host files whose sync makes all contents durable. The caller then calls `allSynced`. */
  unsynced(): SyncedFiles {
    const slabs = [...this.#unsyncedLayers, this.#layer].flatMap((layer) => slabPaths(layerPath(this.#root, layer)));
    const files = [...this.#unsynced.dataFiles()].map((ref) => this.#files.synced(ref));
    // A frozen layer that nothing needs any more may have been removed.
    const ofFrozen = this.#unsyncedFiles.map((ref): SyncedFile => ({ ...this.#files.synced(ref), optional: true }));
    const ofSlabs = slabs.map((file): SyncedFile => ({ file, datasync: true, optional: true }));
    return { files: [...ofSlabs, ...ofFrozen, ...files], directory: this.#root };
  }

  /** Called when the files of `unsynced` are durable, with nothing written since. */
  allSynced(): void {
    this.#unsyncedLayers.clear();
    this.#unsyncedFiles.length = 0;
    this.#unsynced.clear();
  }

  /** Whether so many slots are deferred that the journal should be synced. */
  get waitsForJournal(): boolean {
    return this.#slabs.hasManyDeferred;
  }

  /** Called when a sync of the journal begins. */
  journalSyncBegins(): void {
    this.#slabs.coverDeferred();
  }

  /** Called when that sync has succeeded: the slots that it covers become reusable. */
  journalSynced(): void {
    this.#slabs.releaseCovered();
  }

  /** Closes the slabs, without `syncAll`. */
  close(): void {
    this.#slabs.close();
  }

  /** Whether contents of this size are, or will be, in a slot; larger ones are moved to a data file. */
  #staysSmall(inode: Inode, size: number): boolean {
    if (inode.hasFile) return false;
    if (size <= SMALL) return true;
    if (inode.size > 0) this.#moveToFile(inode);
    return false;
  }

  /** Appends to contents by `fill`: in place, or after a copy in a larger slot. */
  #grow(inode: Inode, size: number, sum: number, fill: (slot: number) => void): void {
    const { slot } = inode.data!;
    if (slot !== NO_SLOT && !inode.shortened && !this.isFrozen(inode) && this.#slabs.fits(slot, size)) {
      fill(slot);
      this.#changed(inode, slot, size, sum);
      return;
    }
    this.#inSlot(size, (other) => {
      if (inode.size > 0) this.#slabs.write(other, 0, this.small(inode));
      fill(other);
      this.#changed(inode, other, size, sum);
      inode.verified = true;
    });
  }

  /**
   * Shortens contents in their slot. Nothing is written: until a sync the journal on disk may still record the longer
   * contents.
   */
  #shorten(inode: Inode, size: number): void {
    const bytes = Buffer.allocUnsafe(size);
    this.#readSlot(inode, 0, bytes);
    this.#changed(inode, inode.data!.slot, size, crc32(bytes));
  }

  /** Writes new contents to another slot. */
  #replaceContents(inode: Inode, bytes: Buffer): void {
    this.#inSlot(bytes.length, (slot) => {
      this.#slabs.write(slot, 0, bytes);
      this.#changed(inode, slot, bytes.length, crc32(bytes));
      inode.verified = true;
    });
  }

  #inSlot(size: number, act: (slot: number) => void): void {
    const slot = this.#slabs.allocate(size);
    try {
      act(slot);
    } catch (error) {
      this.#slabs.free(slot, false);
      throw error;
    }
  }

  /** Returns the contents, truncated or padded with zeros. */
  #resized(inode: Inode, size: number): Buffer {
    const bytes = Buffer.alloc(size);
    this.small(inode).copy(bytes);
    return bytes;
  }

  #changed(inode: Inode, slot: number, size: number, sum: number | undefined): void {
    this.#replace(inode, slot, (data) => this.#journal.changed(inode, data, size, sum));
    this.#unsynced.add(inode);
  }

  /**
   * Moves contents to an earlier slot, so that the slab becomes shorter. A failure is ignored, since it is not one of
   * the current operation.
   */
  #move(inode: Inode): void {
    const slot = this.#slabs.allocate(inode.size);
    try {
      this.#slabs.write(slot, 0, this.small(inode));
      if (!this.#unsynced.has(inode)) this.#slabs.sync(slot);
      this.#replace(inode, slot, (data) => this.#journal.placed(inode, data));
    } catch {
      this.#slabs.free(slot, false);
    }
  }

  #moveToFile(inode: Inode): void {
    const data = { ...inode.data!, layer: this.#layer };
    const fd = this.#files.open(data, true);
    try {
      const bytes = this.small(inode);
      if (writeFile(fd, 0, bytes) !== bytes.length) throw ENOSPC;
      // Contents that were durable must not be replaced by contents that are not.
      if (!this.#unsynced.has(inode)) this.#files.sync(data, true);
      this.#replace(inode, NO_SLOT, (to) => this.#journal.placed(inode, to));
      inode.hasFile = true;
    } catch (error) {
      this.#files.remove(data);
      throw error;
    } finally {
      closeQuietly(fd);
    }
  }

  #replace(inode: Inode, slot: number, journal: (data: DataRef) => void): void {
    const before = inode.data!;
    const frozen = this.isFrozen(inode);
    journal({ layer: this.#layer, id: before.id, slot });
    if (before.slot === slot && !frozen) return;
    if (slot !== NO_SLOT) this.#slabs.assign(slot, inode);
    if (before.slot !== NO_SLOT && !frozen) this.#slabs.free(before.slot, !this.#unsynced.has(inode));
  }
}

/** False for contents written by an older server. */
function knowsSum({ size, expected }: Inode): boolean {
  return size === 0 || expected !== undefined;
}

/** Returns the checksum of the contents padded with zeros up to `end`. */
function sumWithZeros({ size, expected }: Inode, end: number): number {
  return crc32(ZEROS.subarray(0, end - size), size === 0 ? 0 : expected);
}

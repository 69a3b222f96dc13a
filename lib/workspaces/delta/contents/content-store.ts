import { crc32 } from 'node:zlib';
import { Counted, type Steps } from '../../../fuse/connection/steps.ts';
import type { HostFile } from '../../../host-tree/host-file.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { ENOSPC } from '../../../linux/errno.ts';
import type { Time } from '../../../linux/time.ts';
import { Damage } from '../damage.ts';
import type { DataRef, FileRef, Inode } from '../index/inode.ts';
import { layerPath } from '../layers/layer-path.ts';
import { DataFiles, statData } from './data-files.ts';
import { readFile, syncFiles, writeFile } from './host-io.ts';
import { LargeCopies } from './large-copies.ts';
import { NO_SLOT, Slabs, SMALL, slabPaths } from './slabs.ts';

const LOST = 'its data file is missing or has another size';
/** Damaged files that are told of. */
const MAX_REPORTED = 1000;
/** Inodes looked at in one step. */
const AT_ONCE = 16;
const ZEROS = Buffer.alloc(SMALL);

/** Reads what lies in the slots of layers that are written to no more. */
export interface FrozenReader {
  read(root: string, layer: string, slot: number, offset: number, into: Buffer): number;
}

/** What the store has journaled, each before it counts. */
export interface ContentJournal {
  /** The contents lie elsewhere; `fileTime`: the mtime of the data file they lie in, if it has another than before. */
  placed(inode: Inode, data: DataRef, fileTime?: Time): void;
  /** They lie there, are so large, have this CRC-32 if they are in a slot, and changed just now. */
  changed(inode: Inode, data: DataRef, size: number, sum: number | undefined): void;
  /** Told once of each file whose contents are not what they are to be. */
  damaged(inode: Inode, message: string): void;
}

/**
 * The contents of a delta's files. Small ones are in slots of slabs: place, size and time of each write are in the
 * journal. Larger ones each have a host file, which tells its size and time itself. What grows moves to a larger place:
 * it is copied, then journaled, then gone from where it was, so a crash leaves it in one of the two, whole.
 */
export class ContentStore {
  readonly #root: string;
  readonly #files: DataFiles;
  readonly #frozen: FrozenReader;
  #slabs: Slabs;
  #layer: string;
  readonly #journal: ContentJournal;
  /** Frozen since they were synced last. */
  readonly #unsyncedLayers = new Set<string>();
  readonly #unsyncedFiles: DataRef[] = [];
  /** Inodes that `damaged` was told of. */
  readonly #reported = new Set<number>();
  /** Files with contents the disk may not have yet. */
  readonly #unsynced = new Set<Inode>();

  /** `root`: of all layers; `layer`: the one that is written to. */
  constructor(
    root: string,
    layer: string,
    { frozen, copies }: { frozen: FrozenReader; copies: LargeCopies },
    journal: ContentJournal,
  ) {
    this.#root = root;
    this.#files = new DataFiles(root, copies);
    this.#frozen = frozen;
    this.#slabs = new Slabs(layerPath(root, layer));
    this.#layer = layer;
    this.#journal = journal;
  }

  /** What is there so far is written to no more; `layer` is, from now on. */
  freeze(layer: string): void {
    this.#slabs.close();
    this.#unsyncedLayers.add(this.#layer);
    for (const inode of this.#unsynced) if (inode.hasFile) this.#unsyncedFiles.push(inode.data!);
    this.#unsynced.clear();
    this.#slabs = new Slabs(layerPath(this.#root, layer));
    this.#layer = layer;
  }

  /** As `freeze`, giving up what is not in a frozen layer. */
  reset(layer: string): void {
    this.freeze(layer);
    this.#unsyncedFiles.length = 0;
    this.#unsyncedLayers.clear();
  }

  /** Its contents are shared: they are copied before they are changed. */
  isFrozen(inode: Inode): boolean {
    return inode.data !== undefined && inode.data.layer !== this.#layer;
  }

  /** A data file of the inode's own for its frozen one: a copy (a clone where the disk can), or none and it is empty. */
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

  /** Brings shared contents into the layer that is written to. */
  absorb(inode: Inode): void {
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

  diskSize(layer: string): Steps<number> {
    return this.#files.diskSize(layer);
  }

  /** The data file, open for reading and writing; made when there is none. The caller closes it. */
  open(inode: Inode): number {
    if (inode.lost) throw this.#damage(inode, LOST);
    if (inode.hasFile) return this.#files.open(inode.data!, false, !this.isFrozen(inode));
    const data = { ...inode.data!, layer: this.#layer };
    if (this.isFrozen(inode)) this.#journal.placed(inode, data);
    const fd = this.#files.open(data, true);
    inode.hasFile = true;
    return fd;
  }

  /** The mtime and size of the data file, by its open `fd` if there is one. */
  fileStat(inode: Inode, fd?: number): { mtime: Time; size: number } {
    if (inode.lost) throw this.#damage(inode, LOST);
    const file = fd ?? this.#files.open(inode.data!, false, false);
    try {
      return statData(file);
    } finally {
      if (fd === undefined) closeQuietly(file);
    }
  }

  /** The data file there is. */
  hostFile(inode: Inode): HostFile {
    return this.#files.hostFile(inode.data!);
  }

  /** `fd` gives the data file, if there is one. */
  read(inode: Inode, offset: number, into: Buffer, fd: () => number): number {
    if (inode.hasFile) return readFile(fd(), offset, into);
    const length = Math.min(into.length, inode.size - offset);
    if (length <= 0) return 0;
    this.#readSlot(inode, offset, into.subarray(0, length));
    return length;
  }

  /** All contents of a file without a data file. */
  small(inode: Inode): Buffer {
    const bytes = Buffer.allocUnsafeSlow(inode.size);
    if (inode.size > 0) this.#readSlot(inode, 0, bytes);
    return bytes;
  }

  /** Throws Damage for contents that are not those that were written. */
  #readSlot(inode: Inode, offset: number, into: Buffer): void {
    const { expected, size } = inode;
    const whole = offset === 0 && into.length === size;
    // A part of what has changed is not to be told from one that has not.
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
   * Writes into a slot and journals it, or returns false: then the data file is the place, which has what there was. What
   * is there already is not written over, so that a crash leaves contents that match their checksum.
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

  /** As `writeSmall`. */
  truncateSmall(inode: Inode, size: number): boolean {
    // What is lost need not be there to be given up.
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

  /** Contents of a file to be: kept by a record that names the place, or dropped. */
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

  /** As `putSmall`, of an open host file of any size. Returns the data file's mtime. */
  putFile(from: number, ref: FileRef): Time {
    return this.#files.copy(from, ref);
  }

  discard(ref: DataRef): void {
    if (ref.slot === NO_SLOT) this.#files.remove(ref);
    else this.#slabs.free(ref.slot, false);
  }

  /** A record names the place of the inode's contents. */
  assign(inode: Inode): void {
    const { slot } = inode.data!;
    if (slot !== NO_SLOT) this.#slabs.assign(slot, inode);
    this.#unsynced.add(inode);
  }

  markUnsynced(inode: Inode): void {
    this.#unsynced.add(inode);
  }

  /** The contents of an inode that is no more. Its removal is journaled. `more`: others are released with it. */
  release(inode: Inode, more: boolean): void {
    const synced = !this.#unsynced.delete(inode);
    if (this.isFrozen(inode)) return;
    if (inode.hasFile) this.#files.remove(inode.data!);
    if (inode.data!.slot === NO_SLOT) return;
    this.#slabs.free(inode.data!.slot, synced, more);
    const toMove = more ? undefined : this.#slabs.toMove;
    if (toMove !== undefined) this.#move(toMove);
  }

  /** After the last of many, until it returns false: gives a part of the room back to the disk. */
  trim(): boolean {
    return this.#slabs.trim();
  }

  /** Its data file is known to have been there. */
  static markLost(inode: Inode): void {
    inode.hasFile = inode.lost = true;
    inode.size = Math.max(inode.expected ?? 0, 1);
  }

  /** Completes inodes of frozen layers by what their data files tell. `sizes`: those that were recorded are the last ones. */
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
      // It was recorded when it was frozen, and has not changed since.
      const other = expected !== undefined && expected !== inode.size && !(expected === -1 && inode.hasFile);
      if (other) ContentStore.markLost(inode);
    }
  }

  /** Finds the data files of `inodes` in the layer that is written to, and removes all others there. `found` is told each one's size and mtime. */
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

  sync(inode: Inode, datasync: boolean): void {
    const { data } = inode;
    if (inode.hasFile) this.#files.sync(data!, datasync);
    // Whoever froze it may not have synced it.
    else if (this.isFrozen(inode)) syncFiles(slabPaths(layerPath(this.#root, data!.layer)));
    else if (data !== undefined && data.slot !== NO_SLOT) this.#slabs.sync(data.slot);
    this.#unsynced.delete(inode);
  }

  syncAll(): void {
    this.#syncLayers();
    this.#slabs.syncAll();
    this.#files.syncAll([...this.#unsynced].filter((inode) => inode.hasFile).map((inode) => inode.data!));
    this.#unsynced.clear();
  }

  #syncLayers(): void {
    for (const layer of this.#unsyncedLayers) syncFiles(slabPaths(layerPath(this.#root, layer)));
    this.#unsyncedLayers.clear();
    this.#files.syncAll(this.#unsyncedFiles.splice(0));
  }

  /** Many slots wait for `journalSynced`. */
  get waitsForJournal(): boolean {
    return this.#slabs.hasManyDeferred;
  }

  journalSynced(): void {
    this.#slabs.releaseDeferred();
  }

  close(): void {
    this.#slabs.close();
  }

  /** Whether contents of this size are in a slot, or will be; what has become too large gets its data file. */
  #staysSmall(inode: Inode, size: number): boolean {
    if (inode.hasFile) return false;
    if (size <= SMALL) return true;
    if (inode.size > 0) this.#moveToFile(inode);
    return false;
  }

  /** Has `fill` write what comes after the end: in place, or beside a copy of the rest in a larger slot. */
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

  /** The contents end earlier in their slot. Nothing is written: until a sync the disk may have the record of the longer ones. */
  #shorten(inode: Inode, size: number): void {
    const bytes = Buffer.allocUnsafe(size);
    this.#readSlot(inode, 0, bytes);
    this.#changed(inode, inode.data!.slot, size, crc32(bytes));
  }

  /** Puts other contents into another slot. */
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

  /** Its contents, cut or filled up with zeros. */
  #resized(inode: Inode, size: number): Buffer {
    const bytes = Buffer.alloc(size);
    this.small(inode).copy(bytes);
    return bytes;
  }

  #changed(inode: Inode, slot: number, size: number, sum: number | undefined): void {
    this.#replace(inode, slot, (data) => this.#journal.changed(inode, data, size, sum));
    this.#unsynced.add(inode);
  }

  /** To a slot further down: the slab gets shorter. Failing to is no failure of what was just done. */
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
      // What was made to last is not given up for what may not.
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

/** Not so of what an older server wrote. */
function knowsSum({ size, expected }: Inode): boolean {
  return size === 0 || expected !== undefined;
}

/** The sum of what there is with zeros up to `end`. */
function sumWithZeros({ size, expected }: Inode, end: number): number {
  return crc32(ZEROS.subarray(0, end - size), size === 0 ? 0 : expected);
}

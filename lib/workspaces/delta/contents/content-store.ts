import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import type { HostFile } from '../../../host-tree/host-file.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { layerPath } from '../layers/layer-path.ts';
import type { SyncedFile, SyncedFiles } from './background-sync.ts';
import type { ContentJournal } from './content-journal.ts';
import { DamageReports } from './damage-reports.ts';
import { DataFiles, type DataStat, statData } from './data-files.ts';
import { DenseMap } from './dense-map.ts';
import { openIfExists, readFile } from './host-io.ts';
import type { LargeCopies } from './large-copies.ts';
import type { LargeFrees } from './large-frees.ts';
import { placeOf, slabPaths } from './slabs.ts';
import { SlotContents, type SlotOptions } from './slot-contents.ts';
import { type DataRef, type FileRef, NO_SLOT, type StoredFile } from './stored-file.ts';
import type { TopLayer } from './top-layer.ts';
import { Unsynced } from './unsynced.ts';

/** Inodes examined in one step. */
const ITEMS_PER_STEP = 16;

/**
 * The contents of a delta's files. Small ones are in slots of slabs; the journal records location, size and time of
 * each write. Each larger one has a host file, which has its own size and time. Contents that outgrow their location
 * are copied, then journaled, then removed from the old location, so a crash leaves them complete in one of the two.
 */
export class ContentStore {
  readonly #top: TopLayer;
  readonly #files: DataFiles;
  /** The contents of small files. */
  readonly slots: SlotContents;
  readonly #journal: ContentJournal;
  readonly #damages: DamageReports;
  /** Files with contents that may not be durable. */
  readonly #unsynced = new Unsynced();

  constructor(
    top: TopLayer,
    options: SlotOptions & { copies: LargeCopies; frees: LargeFrees },
    journal: ContentJournal,
  ) {
    this.#top = top;
    this.#files = new DataFiles(top.root, options.copies, options.frees);
    this.#journal = journal;
    this.#damages = new DamageReports((inode, message) => journal.damaged(inode, message));
    this.slots = new SlotContents(this.#top, options, this.#files, journal, this.#unsynced, this.#damages);
  }

  /** Freezes the current layer; later writes go to `layer`. */
  freeze(layer: string): void {
    this.slots.layerEnds();
    this.#unsynced.freeze(this.#top.layer);
    this.#top.replace(layer);
  }

  /** As `freeze`; contents that are in no frozen layer are abandoned. */
  reset(layer: string): void {
    this.freeze(layer);
    this.#unsynced.clear();
  }

  /** Whether the contents are in a frozen layer: they are shared and must be copied before a change. */
  isFrozen(inode: StoredFile): boolean {
    return this.#top.isFrozen(inode);
  }

  /**
   * Gives an inode with a frozen data file one of its own: a copy (as a reflink if the file system supports it), or
   * none without `contents`. Throws Postponed while a large file is copied, Damage for a lost one, and host errors.
   */
  thawFile(inode: StoredFile, contents: boolean): void {
    const to = { layer: this.#top.layer, id: inode.id, slot: NO_SLOT };
    if (!contents) {
      this.#journal.placed(inode, to);
      return;
    }
    if (inode.lost) throw this.#damages.lost(inode);
    const fd = this.#files.open(inode.requireData(), false, false);
    try {
      this.#journal.placed(inode, to, this.#files.copy(fd, to));
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
    return this.#files.pendingBytes(this.#top.layer);
  }

  /** Throws Postponed while an open host file is being copied in. */
  awaitCopy(from: number): void {
    this.#files.awaitCopy(from, this.#top.layer);
  }

  /** Moves shared contents to the writable layer. Throws Damage and host errors. */
  moveToTop(inode: StoredFile): void {
    const data = inode.requireData();
    const to = { layer: this.#top.layer, id: data.id, slot: NO_SLOT };
    if (inode.hasFile) {
      this.#files.link(data, to);
      this.#journal.placed(inode, to, this.#files.stat(to));
      inode.hasFile = true;
    } else if (inode.size === 0) {
      this.#journal.placed(inode, to);
    } else {
      this.slots.copy(inode);
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
  open(inode: StoredFile): number {
    if (inode.lost) throw this.#damages.lost(inode);
    if (inode.hasFile) return this.#files.open(inode.requireData(), false, !this.#top.isFrozen(inode));
    const data = { ...inode.requireData(), layer: this.#top.layer, id: inode.id };
    if (this.#top.isFrozen(inode)) this.#journal.placed(inode, data);
    const fd = this.#files.open(data, true);
    inode.hasFile = true;
    return fd;
  }

  /** Returns what is known of the data file, by its open `fd` if there is one. */
  fileStat(inode: StoredFile, fd?: number): DataStat {
    if (inode.lost) throw this.#damages.lost(inode);
    const file = fd ?? this.#files.open(inode.requireData(), false, false);
    try {
      return statData(file);
    } finally {
      if (fd === undefined) closeQuietly(file);
    }
  }

  /** Identifies the existing data file for other parts of the server. */
  hostFile(inode: StoredFile): HostFile {
    return this.#files.hostFile(inode.requireData());
  }

  /**
   * Reads up to `into.length` bytes at byte `offset` and returns the number of bytes read. `fd` opens the data file, if
   * there is one. Throws Damage and host errors.
   */
  read(inode: StoredFile, offset: number, into: Buffer, fd: () => number): number {
    if (inode.hasFile) return readFile(fd(), offset, into);
    const length = Math.min(into.length, inode.size - offset);
    if (length <= 0) return 0;
    this.slots.read(inode, offset, into.subarray(0, length));
    return length;
  }

  /**
   * Writes the contents of a new file to a slot. A record that names the location keeps them; otherwise the caller
   * discards them.
   */
  putSmall(bytes: Buffer, id: number): DataRef {
    const slot = this.#top.slabs.allocate(bytes.length);
    const ref = { layer: this.#top.layer, id, slot };
    try {
      this.#top.slabs.write(slot, 0, bytes);
    } catch (error) {
      this.discard(ref);
      throw error;
    }
    return ref;
  }

  /** As `putSmall`, from an open host file of any size. Returns what is known of the data file. */
  putFile(from: number, ref: FileRef): DataStat {
    return this.#files.copy(from, ref);
  }

  /** Removes contents that no record names. */
  discard(ref: DataRef): void {
    if (ref.slot === NO_SLOT) this.#files.remove(ref);
    else this.#top.slabs.discard(ref.slot);
  }

  /** Assigns contents to an inode, after a record named their location. */
  assign(inode: StoredFile): void {
    const { slot } = inode.requireData();
    if (slot !== NO_SLOT) this.#top.slabs.assign(slot, inode);
    this.#unsynced.add(inode);
  }

  /** Records that a data file was written to. */
  markUnsynced(inode: StoredFile): void {
    this.#unsynced.add(inode);
  }

  /** The contents are not needed any more. */
  forget(inode: StoredFile): void {
    this.slots.removed(inode);
    this.#unsynced.delete(inode);
  }

  /** Removes the contents of a removed inode, which is journaled already. `more`: others are released with it. */
  release(inode: StoredFile, more: boolean): void {
    this.forget(inode);
    if (this.#top.isFrozen(inode)) return;
    if (inode.hasFile) this.#files.remove(inode.requireData());
    if (inode.requireData().slot === NO_SLOT) return;
    this.#top.slabs.release(inode.requireData().slot, more);
    const toMove = more ? undefined : this.#top.slabs.toMove;
    if (toMove !== undefined) this.slots.move(toMove);
  }

  /** Shortens the slabs by a part, after many releases. Returns whether to call again. */
  trim(): boolean {
    return this.#top.slabs.trim();
  }

  /** Finds the data files of `inodes` in the writable layer, for `found`, and removes all others there, in steps. */
  *load<F extends StoredFile>(inodes: Iterable<F>, found: (inode: F, stat: DataStat) => void): Steps<void> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    const byId = new DenseMap<F>();
    for (const inode of inodes) {
      if (counter.count()) yield;
      if (inode.data === undefined || this.#top.isFrozen(inode)) continue;
      if (inode.data.slot === NO_SLOT) byId.set(inode.data.id, inode);
      else this.#top.slabs.assign(inode.data.slot, inode);
    }
    this.#top.slabs.loaded();
    yield* this.#files.sweep(this.#top.layer, (id, stat) => {
      const inode = byId.get(id);
      if (inode !== undefined) inode.hasFile = true;
      if (inode !== undefined) found(inode, stat);
      return inode !== undefined;
    });
  }

  /**
   * Opens the host file whose sync makes the contents of an inode durable, which the caller closes; undefined: there is
   * none. From then on the contents count as durable; the caller calls `markUnsynced` if the sync fails.
   */
  openToSync(inode: StoredFile, datasync: boolean): SyncedFile | undefined {
    const { data } = inode;
    const fd = inode.hasFile
      ? this.#files.open(data!, false)
      : data !== undefined && data.slot !== NO_SLOT
        ? openIfExists(placeOf(layerPath(this.#top.root, data.layer), data.slot).path)
        : undefined;
    // Not later: until the journal is synced, its slot must not get other contents.
    this.#unsynced.delete(inode);
    return fd === undefined ? undefined : { file: fd, datasync: datasync || !inode.hasFile };
  }

  /** Returns the host files whose sync makes all contents durable. The caller then calls `allSynced`. */
  unsynced(): SyncedFiles {
    const { root, layer } = this.#top;
    const slabs = [...this.#unsynced.layers, layer].flatMap((each) => slabPaths(layerPath(root, each)));
    const files = this.#unsynced.dataFiles().map((ref) => this.#files.synced(ref));
    // A frozen layer that nothing needs any more may have been removed.
    const ofFrozen = this.#unsynced.frozenFiles.map((ref) => ({ ...this.#files.synced(ref), optional: true }));
    const ofSlabs = slabs.map((file): SyncedFile => ({ file, datasync: true, optional: true }));
    return { files: [...ofSlabs, ...ofFrozen, ...files], directory: root };
  }

  /** The data files whose contents may not be durable. */
  get unsyncedFiles(): DataRef[] {
    return this.#unsynced.dataFiles();
  }

  /** Called when the files of `unsynced` are durable, with nothing written since. */
  allSynced(): void {
    this.#unsynced.clear();
  }

  /** Whether so many slots are deferred that the journal should be synced. */
  get waitsForJournal(): boolean {
    return this.#top.slabs.hasManyDeferred;
  }

  journalSyncBegins(): void {
    this.#top.slabs.journalSyncBegins();
  }

  /** Called when that sync has succeeded: the slots that it covers become reusable. */
  journalSynced(): void {
    this.#top.slabs.releaseCovered();
  }

  /** Closes the slabs, without `syncAll`. */
  close(): void {
    this.slots.close();
    this.#top.slabs.close();
  }
}

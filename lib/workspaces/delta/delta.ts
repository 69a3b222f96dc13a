import { mkdirSync } from 'node:fs';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import type { HostFile } from '../../host-tree/host-file.ts';
import type { Time } from '../../linux/time.ts';
import type { Listed } from '../divided-list.ts';
import { Claims } from './claims.ts';
import { Compaction } from './compaction.ts';
import { ContentRecords } from './content-records.ts';
import { ContentStore } from './contents/content-store.ts';
import { type DataStat, statData } from './contents/data-files.ts';
import { truncateFile, writeFile } from './contents/host-io.ts';
import { TopLayer } from './contents/top-layer.ts';
import { CopyIn } from './copy-in.ts';
import { asDamage } from './damage.ts';
import { DeltaIndex } from './delta-index.ts';
import { DeltaLayers } from './delta-layers.ts';
import { DeltaSyncs } from './delta-syncs.ts';
import { apply } from './index/apply.ts';
import type { Inode } from './index/inode.ts';
import type { InodeTable } from './index/inode-table.ts';
import type { Op } from './index/records.ts';
import { makingSummary, readSummary } from './layers/layer-summary.ts';
import type { LayersOf } from './layers/layers-of.ts';
import { liveContents, sharedContents } from './layers/live-contents.ts';
import { Retained } from './layers/retained.ts';
import { loadContents } from './load-contents.ts';
import { type Quota, Usage } from './usage.ts';
import { type Attributes, type Committer, WrittenFiles } from './written-files.ts';

/** Operations applied in one step. */
const ITEMS_PER_STEP = 16;

/**
 * The delta of one sandbox on disk (the upper layer of the workspace): `journal` (the index) and layers (contents of
 * files). Every change is journaled before it is applied, so the indexes in memory and on disk are equal at every
 * moment. Only one process may use a delta. Only the top layer is writable. A frozen layer has its contents and the
 * index of that time; the journal extends that index, and journals of other deltas may, too. The owner calls `close`.
 */
export class Delta implements Committer {
  readonly #index: DeltaIndex;
  readonly #options: LayersOf;
  readonly #contents: ContentStore;
  readonly #now: () => Time;
  readonly #written: WrittenFiles;
  /** What is retained on disk for the sandbox's checkpoints. */
  readonly retained: Retained;
  readonly #usage: Usage;
  readonly #compaction: Compaction;
  /** Its quota. */
  readonly claims: Claims;
  /** Copies from the host into it. */
  readonly copyIn: CopyIn;
  /** Durability of its files and its journal. */
  readonly syncs: DeltaSyncs;
  /** Its frozen layers. */
  readonly layers: DeltaLayers;
  #releasing = false;

  private constructor(index: DeltaIndex, options: LayersOf, quota: Quota, now: () => Time) {
    this.#index = index;
    this.#options = options;
    const { root, prefix, frozen, damaged } = options;
    const summaries = {
      read: (layer: string) => readSummary(root, layer),
      making: (layer: string) => makingSummary(root, layer, frozen),
    };
    const retained = new Retained(prefix, summaries, () => usage.count());
    const usage = new Usage(quota, retained);
    const records = new ContentRecords(index, this, { retained, usage }, now, damaged);
    const contents = new ContentStore(new TopLayer(root, index.top), options, records);
    const written = new WrittenFiles(contents, this);
    const compaction = new Compaction(index, options, () => written.copyingHostTimes());
    const syncs = new DeltaSyncs(options, index, contents, written);
    this.layers = new DeltaLayers(options, { index, contents, retained, usage, written, compaction, syncs });
    this.claims = new Claims(index, contents, retained, usage);
    this.copyIn = new CopyIn(index, contents);
    this.retained = retained;
    this.#usage = usage;
    this.#contents = contents;
    this.#written = written;
    this.#compaction = compaction;
    this.syncs = syncs;
    this.#now = now;
  }

  /**
   * Reads the delta in `dir`, created if absent, in steps. Throws Damage if it is damaged, lost or of an unsupported
   * version, and host errors. The caller closes it.
   */
  static *load(dir: string, options: LayersOf, quota: Quota, now: () => Time): Steps<Delta> {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const index = new DeltaIndex(dir, options);
    try {
      const records = yield* index.loading();
      const delta = new Delta(index, options, quota, now);
      yield* delta.#load(records);
      return delta;
    } catch (error) {
      index.close();
      throw asDamage(error);
    }
  }

  /** `records`: number of records in the journal. */
  *#load(records: number): Steps<void> {
    const { table, parent, top } = this.#index;
    yield* loadContents(this.#options.root, table, this.#contents, (inode) => this.#written.add(inode));
    this.#usage.bytes = yield* table.countingBytes(parent?.bytes ?? 0);
    this.retained.reset(yield* liveContents(table, parent, top));
    if (records > 2 * table.size + 1000) yield* this.#compaction.trying();
    else yield* this.#index.converting();
  }

  /** The inodes and their links. A freeze and a rollback replace it. */
  get table(): InodeTable {
    return this.#index.table;
  }

  /** The present state was written by an older server. */
  get older(): boolean {
    return this.#index.older;
  }

  /** Of the frozen layer that is its state; undefined if it has changed since. See `FrozenIndex`. */
  get fittedTo(): number | undefined {
    return this.#index.fittedTo;
  }

  /** The writable layer. */
  get layer(): string {
    return this.#index.top;
  }

  /** Stored bytes of all contents, including unlinked files that are still open. */
  get bytes(): number {
    return this.#usage.bytes;
  }

  /** Number of inodes. */
  get inodes(): number {
    return this.table.size;
  }

  /**
   * Journals the operations as one record, then applies them. `makesRoom`: the operations free space, so a full disk
   * does not prevent them. Throws ENOSPC and other host errors with nothing changed.
   */
  commit(ops: readonly Op[], makesRoom = false): void {
    this.#index.begin();
    this.#index.journal.append(ops, makesRoom);
    for (const op of ops) this.#apply(op);
    this.#compaction.startWhenDue();
  }

  /**
   * As `commit`, for many operations in steps. Until the end the journal has all of them or, for a load, none, and the
   * table has some of them: the caller prevents other use of the delta.
   */
  *committing(ops: Listed<Op>, makesRoom = false): Steps<void> {
    this.#index.begin();
    yield* this.#index.journal.appending(ops, makesRoom);
    const counter = new StepCounter(ITEMS_PER_STEP);
    for (const op of ops) {
      this.#apply(op);
      if (counter.count()) yield;
    }
    this.#compaction.startWhenDue();
  }

  #apply(op: Op): void {
    apply(this.table, op);
    if (op[0] === 'new') this.#usage.bytes += this.table.require(op[1]).stored;
  }

  /**
   * Sets the frozen layers of the sandbox's checkpoints. Returns steps to run before everything that they retain is
   * counted, if any.
   */
  setCheckpoints(layers: readonly string[]): Steps<void> | undefined {
    return this.retained.setCheckpoints(layers) ? undefined : this.retained.makeSummaries();
  }

  /** Called when an inode is unlinked while it is open. */
  unlinked(inode: Inode): void {
    this.#usage.unlinked(inode);
  }

  /**
   * Opens the data file for reading and writing; created if there is none. The caller closes it. Throws Damage and host
   * errors.
   */
  openFile(inode: Inode): number {
    return this.#contents.open(inode);
  }

  /** Identifies the existing data file for other parts of the server. */
  hostFile(inode: Inode): HostFile {
    return this.#contents.hostFile(inode);
  }

  /**
   * Called before a file is written (`contents`: not from scratch): a shared data file is copied. Returns true if the
   * data file changed or was removed, so that open descriptors are stale.
   */
  thaw(inode: Inode, contents: boolean): boolean {
    if (!inode.hasFile || !this.#contents.isFrozen(inode)) return false;
    this.#contents.thawFile(inode, contents);
    return true;
  }

  /** Returns all contents of a file without a data file. Throws Damage. */
  small(inode: Inode): Buffer {
    return this.#contents.slots.all(inode);
  }

  /** Reads at byte `offset`; returns the number of bytes read. Here and below, `fd` returns what `openFile` has opened. */
  read(inode: Inode, offset: number, into: Buffer, fd: () => number): number {
    return this.#contents.read(inode, offset, into, fd);
  }

  /**
   * Writes `data` at byte `offset` and returns the number of bytes written: fewer if the disk became full, but at least
   * one.
   */
  write(inode: Inode, offset: number, data: Buffer, fd: () => number): number {
    if (this.#contents.slots.write(inode, offset, data)) return data.length;
    const file = fd();
    const done = writeFile(file, offset, data);
    // Any other write fills no hole and leaves none.
    const holes = inode.holes > 0 || offset > inode.size ? statData(file).holes : 0;
    this.#wrote(inode, { size: Math.max(inode.size, offset + done), holes });
    return done;
  }

  /** Sets the size of a file in bytes. Throws Postponed while another thread frees much space. */
  truncate(inode: Inode, size: number, fd: () => number): void {
    if (this.#contents.slots.truncate(inode, size)) return;
    const file = fd();
    this.#options.frees.truncating(file, size);
    try {
      truncateFile(file, size);
    } finally {
      this.#wrote(inode, statData(file));
    }
  }

  /** Called after a write to a data file: the new times are visible at once, and recorded with the next attributes. */
  #wrote(inode: Inode, now: Pick<DataStat, 'size' | 'holes'>): void {
    this.#usage.measured(inode, now);
    inode.mtime = inode.ctime = this.#now();
    inode.writes++;
    this.#written.add(inode);
    this.#contents.markUnsynced(inode);
  }

  /** Returns the operation that sets an inode's attributes. `fd`: its open data file. */
  attrOp(inode: Inode, to: Attributes, fd?: number): Op {
    return this.#written.attrOp(inode, to, fd);
  }

  /**
   * Removes an inode that is unlinked and not open, with its contents. Does nothing for one that was removed before.
   */
  release(inode: Inode): void {
    // Commits and discards release inodes by their nodes, and then all unlinked ones; each is counted once.
    if (!this.table.remove(inode)) return;
    this.#written.delete(inode);
    this.#usage.released(inode);
    if (inode.isDirectory || inode.data === undefined) return;
    const shared = sharedContents(inode, this.#index.top);
    if (shared !== undefined) this.retained.superseded(shared.layer, shared.stored);
    this.#contents.release(inode, this.#releasing);
    if (this.#contents.waitsForJournal && !this.#releasing) this.syncs.freeSlots();
  }

  /**
   * Runs steps that release many inodes, without a sync or truncation for each of them. The caller calls `trim`
   * afterwards.
   */
  *releasing<T>(act: Steps<T>): Steps<T> {
    this.#releasing = true;
    try {
      return yield* act;
    } finally {
      this.#releasing = false;
    }
  }

  /** Frees a part of the released disk space. Returns whether to call again. */
  trim(): boolean {
    return this.#contents.trim();
  }

  /** Closes everything, without a sync: records that were not synced survive a crash of the server. */
  close(): void {
    this.#index.close();
    this.#contents.close();
  }
}

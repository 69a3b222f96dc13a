import { mkdirSync, rmSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { Counted, complete, type Steps } from '../../fuse/connection/steps.ts';
import type { HostFile } from '../../host-tree/host-file.ts';
import { ENOSPC, type Errno, ESTALE } from '../../linux/errno.ts';
import type { Time } from '../../linux/time.ts';
import { sameTime } from '../clock.ts';
import { ContentStore } from './contents/content-store.ts';
import { statData } from './contents/data-files.ts';
import { findFrozen, markLost } from './contents/find-files.ts';
import { readFile, truncateFile, writeFile } from './contents/host-io.ts';
import type { OwnSyncs } from './contents/host-syncs.ts';
import type { LargeCopies } from './contents/large-copies.ts';
import type { LargeFrees } from './contents/large-frees.ts';
import { SMALL } from './contents/slabs.ts';
import { asDamage } from './damage.ts';
import { FileSyncs } from './file-syncs.ts';
import { apply } from './index/apply.ts';
import type { JournalSync } from './index/durable-journal.ts';
import { flattening } from './index/flatten.ts';
import { type Inode, NO_SLOT } from './index/inode.ts';
import { InodeTable } from './index/inode-table.ts';
import { Journal } from './index/journal.ts';
import { resolvingMerges } from './index/older-merges.ts';
import { findingOrphans, removingOrphans } from './index/orphans.ts';
import { type FileBody, FORMAT, type Header, headerOf, type Op, timesOf, VERSION } from './index/records.ts';
import { snapshot } from './index/snapshot.ts';
import type { FrozenIndex, FrozenLayers } from './layers/frozen-layers.ts';
import {
  addContents,
  copyContents,
  countingContents,
  hasContents,
  type LayerContents,
  type Sum,
} from './layers/layer-contents.ts';
import { countOf, indexPath, layerPath, newLayer } from './layers/layer-path.ts';
import { makingSummary, readSummary, writeSummary } from './layers/layer-summary.ts';
import { Retained } from './layers/retained.ts';
import { type Quota, Usage } from './usage.ts';

/** Journals in a chain before the index is rewritten as one journal. */
const MAX_CHAIN = 32;
/** A journal is rewritten when it has grown by this many bytes, and by this factor, since the last rewrite. */
const GROWTH_BYTES = 4 << 20;
const GROWTH = 2;
/** Approximate size of an inode in a rewritten index, in bytes. */
const INDEX_BYTES = 256;
/** Garbage in bytes below which an index is not rewritten. */
const WASTE_BYTES = 64 << 10;
/** Garbage in bytes from which on the rest of a layer is worth moving. */
const WORTHWHILE = 4 << 20;
/** Largest id of an inode: tables store ids in 32 bits. */
const MAX_ID = 2 ** 31 - 3;
/** Inodes examined, or operations applied, in one step. */
const AT_ONCE = 16;
/** Largest difference between disk usage and size of a file, in bytes. */
const BLOCK = 4096;

/** Where the layers of a delta are, and what it needs of its surroundings. */
export interface LayersOf {
  /** Host directory of the layers of all deltas that may share some. */
  root: string;
  /** Prefix of the names of its own layers, unique to this delta. */
  prefix: string;
  frozen: FrozenLayers;
  copies: LargeCopies;
  /** Makes its files durable. */
  syncs: OwnSyncs;
  /** Called when requests that wait for this cause of `syncFile` are to be answered. */
  answer: (cause: number, error: Errno | undefined) => void;
  /** Whether a long operation prevents other use of the delta. */
  isHeld?: () => boolean;
  frees: LargeFrees;
  /** Called once for each file with damaged contents. */
  damaged?: (inode: Inode, message: string) => void;
  /** The frozen layer from which a delta without a journal starts. */
  origin?: string | undefined;
  /**
   * Runs steps between requests, with no other use of the delta until their end; returns false if that is not possible
   * now. Absent: they run at once.
   */
  startSteps?: ((steps: Steps<unknown>) => boolean) | undefined;
}

/**
 * The delta of one sandbox on disk (the upper layer of the workspace): `journal` (the index) and layers (contents of
 * files). Every change is journaled before it is applied, so the indexes in memory and on disk are equal at every
 * moment. Only one process may use a delta. Only the top layer is writable. A frozen layer has its contents and the
 * index of that time; the journal extends that index, and journals of other deltas may, too. The owner calls `close`.
 */
export class Delta {
  table = new InodeTable();
  /** The present state was written by an older server. */
  older = false;
  readonly #layers: LayersOf;
  #top!: string;
  /** The other layers that are needed. */
  #below: readonly string[] = [];
  /** Frozen layer whose index this journal extends, or ''. */
  #parentLayer = '';
  /** `compactingLayers` has moved some contents already. */
  #isCompacting = false;
  /** Unlinked inodes of the parent table: open, or not linked yet. */
  #orphans: readonly number[] = [];
  /** The index that `table` extends, and others that it keeps in memory. */
  readonly #indexes: FrozenIndex[] = [];
  /** Number of journals in the chain, including this one. */
  #chainLength = 1;
  #contents!: ContentStore;
  readonly #journal: Journal;
  readonly #now: () => Time;
  /** Files whose times are newer than their record: the data file was written to since. */
  readonly #written = new Set<Inode>();
  readonly #retained: Retained;
  readonly #usage: Usage;
  readonly #fileSyncs: FileSyncs;
  /** The journal is being synced because many slots wait for it. */
  #freeingSlots = false;
  #releasing = false;
  #rewrittenSize = 0;
  /** Size of a journal with only its header, in bytes. */
  #headerSize = 0;

  private constructor(dir: string, layers: LayersOf, quota: Quota, now: () => Time) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#journal = new Journal(`${dir}/journal`, layers.syncs);
    this.#layers = layers;
    this.#fileSyncs = this.#makeFileSyncs();
    const { root, frozen } = layers;
    this.#retained = new Retained(layers.prefix, {
      read: (layer) => readSummary(root, layer),
      making: (layer) => makingSummary(root, layer, frozen),
    });
    this.#usage = new Usage(quota, this.#retained);
    this.#now = now;
  }

  /**
   * Reads the delta in `dir`, created if absent, in steps. Throws Damage if it is damaged, lost or of an unsupported
   * version, and host errors. The caller closes it.
   */
  static *load(dir: string, layers: LayersOf, quota: Quota, now: () => Time): Steps<Delta> {
    const delta = new Delta(dir, layers, quota, now);
    try {
      const records = yield* delta.#readHeader();
      delta.#contents = delta.#makeContents();
      yield* delta.#load(records);
      return delta;
    } catch (error) {
      delta.#releaseIndexes();
      throw asDamage(error);
    }
  }

  #makeContents(): ContentStore {
    const layers = this.#layers;
    return new ContentStore(layers.root, this.#top, layers, {
      placed: (inode, { layer, id, slot }, mtime) => {
        const times: Op[] = mtime === undefined ? [] : [this.#attrOp(inode, inode, { mtime, size: inode.size })];
        const shared = this.#sharedContents(inode);
        this.commit([['place', inode.id, layer, id, slot], ...times]);
        if (shared !== undefined) this.#retained.superseded(shared.layer, shared.size);
      },
      changed: (inode, { layer, id, slot }, size, sum) => {
        const before = inode.size;
        const now = this.#now();
        const op: Op = ['data', inode.id, layer, id, slot, size, now.sec, now.nsec];
        if (sum !== undefined) op[8] = sum;
        const shared = this.#sharedContents(inode);
        this.commit([op], size < before || size === 0);
        if (shared !== undefined) this.#retained.superseded(shared.layer, shared.size);
        this.#usage.resized(inode, size - before);
      },
      damaged: (inode, message) => layers.damaged?.(inode, message),
    });
  }

  get #isFree(): boolean {
    return this.#layers.isHeld?.() !== true;
  }

  #makeFileSyncs(): FileSyncs {
    const { syncs, answer } = this.#layers;
    return new FileSyncs(syncs, {
      recordTimes: (inodes) => this.#recordTimes([...inodes].filter((inode) => this.#written.has(inode))),
      openToSync: (inode, datasync) => this.#contents.openToSync(inode, datasync),
      failed: (inode) => this.#markUnsynced(inode),
      isFree: () => this.#isFree,
      journal: () => this.#beginJournalSync(),
      answer,
    });
  }

  /** The writable layer. */
  get layer(): string {
    return this.#top;
  }

  /** Apparent size of all contents in bytes, including unlinked files that are still open. */
  get bytes(): number {
    return this.#usage.bytes;
  }

  /** Number of inodes. */
  get inodes(): number {
    return this.table.size;
  }

  /** What is retained on disk for the sandbox's checkpoints. */
  get retained(): Readonly<Sum> {
    return this.#retained;
  }

  /** Allocates an inode id. Throws ENOSPC if all were used. */
  newId(): number {
    if (this.table.nextId > MAX_ID) throw ENOSPC;
    return this.table.nextId++;
  }

  /**
   * Journals the operations as one record, then applies them. `makesRoom`: the operations free space, so a full disk
   * does not prevent them. Throws ENOSPC and other host errors with nothing changed.
   */
  commit(ops: readonly Op[], makesRoom = false): void {
    this.#requireHeader();
    this.#journal.append(ops, makesRoom);
    for (const op of ops) this.#apply(op);
    this.#compactWhenDue();
  }

  /**
   * As `commit`, for many operations in steps. Until the end the journal has all of them or, for a load, none, and the
   * table has some of them: the caller prevents other use of the delta.
   */
  *committing(ops: readonly Op[], makesRoom = false): Steps<void> {
    this.#requireHeader();
    yield* this.#journal.appending(ops, makesRoom);
    const counted = new Counted(AT_ONCE);
    for (const op of ops) {
      this.#apply(op);
      yield* counted.one();
    }
    this.#compactWhenDue();
  }

  #apply(op: Op): void {
    apply(this.table, op);
    if (op[0] === 'new') this.#usage.bytes += this.table.get(op[1])!.size;
  }

  /** Throws EDQUOT if the quota does not permit `count` more inodes. */
  claimInodes(count: number): void {
    this.#usage.claimInodes(count, this.table.size);
  }

  /** Throws EDQUOT if the quota does not permit `count` more bytes. */
  claimBytes(count: number): void {
    this.#usage.claimBytes(count, this.#contents.pendingBytes);
  }

  /**
   * Called before a file is written up to byte `end`. Throws EDQUOT if the quota does not permit its growth plus what
   * checkpoints retain of its old contents.
   */
  claimWrite(inode: Inode, end: number): void {
    const growth = Math.max(0, end - inode.size);
    const shared = this.#sharedContents(inode);
    if (shared === undefined || !this.#retained.isNeeded(shared.layer)) {
      this.claimBytes(growth);
      return;
    }
    this.claimBytes(growth + this.#retained.cost(shared.layer, shared.size));
    this.claimInodes(1);
  }

  /** The contents of a file in a frozen layer, which stay there when the file gets other contents. */
  #sharedContents(inode: Inode): { layer: string; size: number } | undefined {
    if (!this.#contents.isFrozen(inode) || !hasContents(inode)) return undefined;
    return { layer: inode.data!.layer, size: inode.size };
  }

  /**
   * Sets the frozen layers of the sandbox's checkpoints. Returns steps to run before everything that they retain is
   * counted, if any.
   */
  setCheckpoints(layers: readonly string[]): Steps<void> | undefined {
    return this.#retained.setCheckpoints(layers) ? undefined : this.#retained.makeSummaries();
  }

  /** Called when an inode is unlinked while it is open. */
  unlinked(inode: Inode): void {
    this.#usage.unlinked(inode);
  }

  /**
   * Copies an open host file of `size` bytes for a new inode and returns the location for its record. The caller calls
   * `adopt` after the record, or `discard`. After a crash before that, the next load removes the copy. Throws ESTALE if
   * the file became shorter, Postponed, and host errors.
   */
  copyIn(from: number, size: number, id: number): FileBody {
    // A layer with contents needs a journal.
    this.#requireHeader();
    if (size <= SMALL) {
      const bytes = Buffer.allocUnsafe(size);
      if (readFile(from, 0, bytes) !== size) throw ESTALE;
      const { layer, slot } = this.#contents.putSmall(bytes, id);
      return [layer, id, slot, size, 0, 0, crc32(bytes)];
    }
    const { sec, nsec } = this.#contents.putFile(from, { layer: this.#top, id });
    return [this.#top, id, NO_SLOT, size, sec, nsec];
  }

  /** Throws Postponed while the open host file is being copied in. */
  awaitCopy(from: number): void {
    this.#contents.awaitCopy(from);
  }

  /** Removes a copy by `copyIn` that no record names. */
  discard([layer, id, slot]: FileBody): void {
    this.#contents.discard({ layer, id, slot });
  }

  /** Assigns a copy by `copyIn` to the inode of its record. */
  adopt(inode: Inode): void {
    inode.hasFile = inode.data!.slot === NO_SLOT;
    this.#contents.assign(inode);
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

  /**
   * Reads up to `into.length` bytes at byte `offset` and returns the number of bytes read. Here and below, `fd` returns
   * the data file, opened by `openFile`.
   */
  read(inode: Inode, offset: number, into: Buffer, fd: () => number): number {
    return this.#contents.read(inode, offset, into, fd);
  }

  /**
   * Writes `data` at byte `offset` and returns the number of bytes written: fewer if the disk became full, but at least
   * one.
   */
  write(inode: Inode, offset: number, data: Buffer, fd: () => number): number {
    if (this.#contents.slots.write(inode, offset, data)) return data.length;
    const done = writeFile(fd(), offset, data);
    this.#wrote(inode, Math.max(inode.size, offset + done));
    return done;
  }

  /** Sets the size of a file in bytes. Throws Postponed while another thread frees much space. */
  truncate(inode: Inode, size: number, fd: () => number): void {
    if (this.#contents.slots.truncate(inode, size)) return;
    const file = fd();
    this.#layers.frees.truncating(file, size);
    try {
      truncateFile(file, size);
    } finally {
      this.#wrote(inode, statData(file).size);
    }
  }

  /** Called after a write to a data file: the new times are visible at once, and recorded with the next attributes. */
  #wrote(inode: Inode, size: number): void {
    const before = inode.size;
    inode.size = size;
    this.#usage.resized(inode, size - before);
    inode.mtime = inode.ctime = this.#now();
    inode.writes++;
    this.#written.add(inode);
    this.#contents.markUnsynced(inode);
  }

  /** Returns the operation that sets an inode's attributes. */
  attrOp(inode: Inode, to: Pick<Inode, 'mode' | 'uid' | 'gid' | 'atime' | 'mtime' | 'ctime'>, fd?: number): Op {
    return this.#attrOp(inode, to, inode.hasFile ? this.#contents.fileStat(inode, fd) : undefined);
  }

  #attrOp(
    inode: Inode,
    to: Pick<Inode, 'mode' | 'uid' | 'gid' | 'atime' | 'mtime' | 'ctime'>,
    file: { mtime: Time; size: number } | undefined,
  ): Op {
    const { sec, nsec } = file?.mtime ?? { sec: 0, nsec: 0 };
    const op: Op = ['attr', inode.id, to.mode, to.uid, to.gid, timesOf(to), sec, nsec];
    if (file !== undefined) op[8] = file.size;
    return op;
  }

  /**
   * Removes an inode that is unlinked and not open, with its contents. Does nothing for one that was removed before.
   */
  release(inode: Inode): void {
    // Commits and discards release inodes by their nodes, and then all unlinked ones; each is counted once.
    if (!this.table.remove(inode)) return;
    this.#written.delete(inode);
    this.#usage.released(inode);
    if (inode.isDirectory) return;
    if (inode.data === undefined) return;
    const shared = this.#sharedContents(inode);
    if (shared !== undefined) this.#retained.superseded(shared.layer, shared.size);
    this.#contents.release(inode, this.#releasing);
    if (this.#contents.waitsForJournal && !this.#releasing) this.#freeSlots();
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

  /**
   * Makes one file durable, with its links and times. `datasync`: fdatasync(2) in place of fsync(2) for its data file.
   * Returns the cause of the later answer; undefined: it is durable. Throws host errors.
   */
  syncFile(inode: Inode, datasync: boolean): number | undefined {
    const { syncs } = this.#layers;
    if (syncs.inBackground) return this.#fileSyncs.add(inode, datasync);
    complete(this.#syncingFile(inode, datasync));
    return undefined;
  }

  *#syncingFile(inode: Inode, datasync: boolean): Steps<void> {
    const file = this.#contents.openToSync(inode, datasync);
    try {
      if (file !== undefined) yield* this.#layers.syncs.syncing(() => ({ files: [file] }));
    } catch (error) {
      this.#markUnsynced(inode);
      throw error;
    }
    if (this.#written.has(inode)) this.#recordTimes([inode]);
    yield* this.#syncingJournal();
  }

  #markUnsynced(inode: Inode): void {
    if (this.table.get(inode.id) === inode) this.#contents.markUnsynced(inode);
  }

  /**
   * Makes everything durable, in steps, between which the caller prevents other use of the delta. Throws host errors.
   */
  *syncing(): Steps<void> {
    yield* this.#syncingContents();
    this.#recordTimes([...this.#written]);
    yield* this.#syncingJournal();
  }

  *#syncingContents(): Steps<void> {
    yield* this.#layers.syncs.syncing(() => this.#contents.unsynced());
    this.#contents.allSynced();
  }

  /** Closes everything, without a sync: records that were not synced survive a crash of the server. */
  close(): void {
    this.#releaseIndexes();
    this.#contents.close();
  }

  #releaseIndexes(): void {
    this.#journal.close();
    for (const index of this.#indexes.splice(0)) this.#layers.frozen.release(index);
  }

  /**
   * Freezes the present state as a layer and returns its name; durable on return as far as the index goes. The commit
   * point is the replacement of the journal by one that extends the layer, which happens in the same step as the change
   * of the table in memory. An unchanged delta returns the previous layer. The caller prevents other use of the delta
   * between the steps.
   */
  *freezing(): Steps<string> {
    yield* this.#recordingTimes();
    this.#requireHeader();
    if (this.#parentLayer !== '' && this.#journal.size === this.#headerSize) {
      yield* this.#journal.confirming();
      return this.#parentLayer;
    }
    if (this.#chainLength >= MAX_CHAIN) yield* this.#rewriting();
    else if (this.#isWasteful) yield* this.#compacting();
    const { root } = this.#layers;
    const frozen = this.#top;
    const contents = (yield* countingContents(this.table.own())).get(frozen);
    const nameless = (yield* findingOrphans(this.table, this.#orphans)).map(({ id }) => id);
    mkdirSync(layerPath(root, frozen), { recursive: true, mode: 0o700 });
    yield* this.#syncingJournal();
    this.#journal.linkTo(indexPath(root, frozen));
    const index = this.#journal.size;
    yield* this.#startingJournal(frozen, [...this.#below, frozen], this.#nextTop());
    this.#retained.frozen(frozen, contents);
    this.#contents.freeze(this.#top);
    this.#shareIndex(frozen, nameless);
    this.#chainLength++;
    writeSummary(root, frozen, { index, layers: this.#below, contents: this.#retained.live });
    if (this.table.depth > MAX_CHAIN) yield* this.#flattening();
    yield* this.#journal.confirming();
    return frozen;
  }

  /**
   * Whether the index is much longer than a rewritten one, or needs layers without contents of the present state, all
   * of which would be kept as long as the new layer.
   */
  get #isWasteful(): boolean {
    const { root } = this.#layers;
    const enough = WASTE_BYTES + this.table.size * INDEX_BYTES;
    let unused = 0;
    for (const layer of this.#below) {
      if (this.#retained.live.has(layer)) continue;
      const summary = readSummary(root, layer);
      unused += (summary?.index ?? 0) + (summary?.contents.get(layer)?.bytes ?? 0);
    }
    return unused > enough || this.#journal.size > enough * 2;
  }

  /** Size of the index that a freeze would leave, in bytes. */
  get indexToFreeze(): number {
    return this.#journal.size === this.#headerSize ? 0 : this.#journal.size;
  }

  /** Whether files and retained contents exceed the quota with `more` bytes added. */
  isAboveQuota(more: number): boolean {
    return this.#usage.isAbove(more + this.#contents.pendingBytes, this.table.size);
  }

  /**
   * Returns the garbage in frozen layers in bytes (contents used neither by the present state nor by a checkpoint that
   * counts for the quota), if it is more than `limit` and worth removing; `checkpoint`: for its state instead of the
   * present one.
   */
  *findingRemainsAbove(limit: number, checkpoint: string): Steps<number | undefined> {
    const { bytes, layers, live } = this.#retained.garbage(checkpoint);
    if (bytes <= Math.max(limit, WORTHWHILE)) return undefined;
    const disk = yield* this.#diskSize(layers);
    // `compactingLayers` leaves less than this alone.
    const used = live.bytes + live.files * BLOCK;
    return disk - used <= Math.max(limit, WORTHWHILE, used) ? undefined : bytes;
  }

  *#diskSize(layers: Iterable<string>): Steps<number> {
    let bytes = 0;
    for (const layer of layers) bytes += yield* this.#contents.diskSize(layer);
    return bytes;
  }

  /** Turns the index in memory into that of the frozen layer, and extends it. */
  #shareIndex(frozen: string, nameless: readonly number[]): void {
    const { table, bytes } = this;
    table.frozen = true;
    this.#orphans = nameless;
    const { root, frozen: all } = this.#layers;
    this.#indexes.push(
      all.add(root, frozen, {
        table,
        bytes,
        layers: this.#below,
        contents: copyContents(this.#retained.live),
        chainLength: this.#chainLength,
        orphans: nameless,
        older: false,
      }),
    );
    this.#extendTable(table);
  }

  #extendTable(table: InodeTable): void {
    this.table = new InodeTable(table);
    this.#usage.rebind((id) => this.table.get(id)!);
  }

  /** Replaces a chain of tables by one; right after a freeze, when only nodes refer to inodes. */
  *#flattening(): Steps<void> {
    const { table } = this;
    table.frozen = true;
    const flat = yield* flattening(table);
    this.#extendTable(flat);
    // Deltas that extend the new layer use the same table; nothing else keeps the others in memory.
    this.#indexes.at(-1)!.table = flat;
    this.#releaseUnused(flat);
  }

  /** Releases the indexes that `table` does not extend. */
  #releaseUnused(table: InodeTable): void {
    const used = new Set<FrozenIndex>();
    for (const index of this.#indexes.splice(0)) {
      if (table.extends(index.table) && !used.has(index)) used.add(index);
      else this.#layers.frozen.release(index);
    }
    this.#indexes.push(...used);
  }

  /**
   * Resets the delta to a frozen layer; durable after `confirming`. Invalidates every inode from before: open files lose
   * their contents. The caller removes unneeded layers, and prevents other use of the delta between the steps.
   */
  *rollingBack(layer: string): Steps<void> {
    const { root, frozen } = this.#layers;
    const index = yield* frozen.acquiring(root, layer);
    const table = new InodeTable(index.table);
    table.nextId = Math.max(table.nextId, this.table.nextId);
    table.nextIno = Math.max(table.nextIno, this.table.nextIno);
    try {
      yield* this.#startingJournal(layer, index.layers, this.#nextTop(), table);
    } catch (error) {
      frozen.release(index);
      throw error;
    }
    this.#contents.reset(this.#top);
    this.#chainLength = index.chainLength + 1;
    this.#indexes.push(index);
    this.#releaseUnused(table);
    this.#orphans = index.orphans;
    this.table = table;
    this.older = index.older;
    this.#written.clear();
    yield* removingOrphans(table, index.orphans);
    this.#usage.reset(yield* table.countingBytes(index.bytes));
    this.#retained.reset(yield* this.#liveContents(index));
  }

  /** Makes a rollback durable, in steps. Throws if that fails. */
  confirming(): Steps<void> {
    return this.#journal.confirming();
  }

  /**
   * Moves what the delta needs of these layers, which no other delta and no checkpoint may need, to its own layer, so
   * that they can be removed with their garbage. At most `limit` contents are moved per call: 'more': call again;
   * 'done': the journal durably needs them no more; 'kept': it would free too little. `moved` receives each inode whose
   * data file changed. The caller prevents other use of the delta between the steps.
   */
  *compactingLayers(
    layers: readonly string[],
    limit: number,
    moved: (inode: Inode) => void,
  ): Steps<'more' | 'done' | 'kept'> {
    const counted = new Counted(AT_ONCE);
    const from = new Set(layers.filter((layer) => this.#below.includes(layer)));
    if (from.size === 0) return 'kept';
    const shared: number[] = [];
    let live = 0;
    for (const inode of this.table.found()) {
      yield* counted.one();
      if (inode.data === undefined || !from.has(inode.data.layer)) continue;
      shared.push(inode.id);
      live += hasContents(inode) ? inode.size + BLOCK : 0;
    }
    if (!this.#isCompacting && from.size < MAX_CHAIN) {
      if ((yield* this.#diskSize(from)) - live < Math.max(WORTHWHILE, live)) return 'kept';
    }
    this.#isCompacting = true;
    for (const id of shared.slice(0, limit)) {
      const inode = this.table.get(id)!;
      this.#contents.moveToTop(inode);
      moved(inode);
      yield* counted.one();
    }
    if (shared.length > limit) return 'more';
    this.#isCompacting = false;
    yield* this.#syncingContents();
    yield* this.#rewriting();
    yield* this.#journal.confirming();
    return 'done';
  }

  #nextTop(): string {
    const { prefix } = this.#layers;
    return newLayer(prefix, countOf(prefix, this.#top));
  }

  /** The last step replaces the journal; the caller continues it with the change in memory. */
  *#startingJournal(continues: string, below: readonly string[], top: string, table = this.table): Steps<void> {
    const header = headerFrom(table, top, below, continues, this.#journal.nextGeneration);
    this.#journal.replace(yield* this.#journal.preparing([header]));
    this.#parentLayer = continues;
    this.#below = below;
    this.#top = top;
    this.#isCompacting = false;
    this.#headerSize = this.#rewrittenSize = this.#journal.size;
  }

  #requireHeader(): void {
    if (this.#journal.size > 0) return;
    this.#journal.begin(headerFrom(this.table, this.#top, this.#below, this.#parentLayer, 0));
    this.#headerSize = this.#journal.size;
  }

  *#syncingJournal(): Steps<void> {
    let begun: JournalSync | undefined;
    yield* this.#layers.syncs.syncing(() => {
      begun = this.#beginJournalSync();
      return begun;
    });
    begun?.synced();
  }

  #beginJournalSync(): JournalSync {
    const { files, synced } = this.#journal.beginSync();
    this.#contents.journalSyncBegins();
    return {
      files,
      synced: () => {
        synced();
        this.#contents.journalSynced();
      },
    };
  }

  /** Makes slots reusable that wait for a sync of the journal. A failure is not one of the current change. */
  #freeSlots(): void {
    const { syncs } = this.#layers;
    if (!syncs.inBackground) complete(this.#syncingJournal());
    else if (!this.#freeingSlots) {
      this.#freeingSlots = true;
      let begun: JournalSync | undefined;
      syncs.add({
        mayBegin: () => this.#isFree,
        open: () => {
          begun = this.#beginJournalSync();
          return begun;
        },
        done: (result) => {
          this.#freeingSlots = false;
          if ('errnos' in result && result.errnos.every((errno) => errno === 0)) begun?.synced();
        },
      });
    }
  }

  /** Reads header and parent index; returns the other records. */
  *#readHeader(): Steps<readonly Op[][]> {
    const { prefix, root, frozen, origin } = this.#layers;
    const records = yield* this.#journal.loading();
    this.older = records.length > 0 && headerOf(records)[1] !== VERSION;
    this.#parentLayer = origin ?? '';
    if (records.length > 0) {
      [, , , , this.#top, this.#below, this.#parentLayer] = headerOf(records);
      // Left by a crash before the journal was replaced.
      rmSync(indexPath(root, this.#top), { force: true });
    } else {
      this.#top = newLayer(prefix);
    }
    if (this.#parentLayer === '') {
      if (records.length > 0) this.#raiseCounters(headerOf(records));
      return records.slice(1) as Op[][];
    }
    const index = yield* frozen.acquiring(root, this.#parentLayer);
    this.#orphans = index.orphans;
    this.#indexes.push(index);
    this.table = new InodeTable(index.table);
    if (records.length > 0) this.#raiseCounters(headerOf(records));
    this.#usage.bytes = index.bytes;
    this.#chainLength = index.chainLength + 1;
    if (records.length > 0) return records.slice(1) as Op[][];
    this.older = index.older;
    this.#below = index.layers;
    return records.slice(1) as Op[][];
  }

  #raiseCounters([, , nextId, nextIno]: Header): void {
    this.table.nextId = Math.max(this.table.nextId, nextId);
    this.table.nextIno = Math.max(this.table.nextIno, nextIno);
  }

  *#load(lines: readonly Op[][]): Steps<void> {
    const counted = new Counted(AT_ONCE);
    for (const line of lines) {
      for (const op of line) {
        apply(this.table, op);
        yield* counted.one();
      }
    }
    yield* resolvingMerges(this.table);
    yield* removingOrphans(this.table, this.#orphans);
    yield* this.#loadData();
    this.#rewrittenSize = this.#journal.size;
    if (lines.length === 0) this.#headerSize = this.#journal.size;
    if (lines.length > 2 * this.table.size + 1000) yield* this.#rewriting();
    else if (!this.#journal.sealed && this.#journal.size > 0) yield* this.#addChecksums(lines);
  }

  /** Converts the journal of an older server. On a full disk it keeps its format for now. */
  *#addChecksums(lines: readonly Op[][]): Steps<void> {
    const header = headerFrom(this.table, this.#top, this.#below, this.#parentLayer, this.#journal.nextGeneration);
    try {
      yield* this.#journal.rewriting([header, ...lines]);
      this.#rewrittenSize = this.#journal.size;
      if (lines.length === 0) this.#headerSize = this.#journal.size;
    } catch {
      // Tried again at the next load.
    }
  }

  *#loadData(): Steps<void> {
    const { root } = this.#layers;
    yield* findFrozen(
      root,
      [...this.table.own()].filter((inode) => this.#contents.isFrozen(inode)),
    );
    yield* this.#contents.load(this.table.own(), (inode, size, mtime) => {
      inode.size = size;
      // Written to since its record; the next record has the new size.
      if (inode.expected !== size) this.#written.add(inode);
      if (inode.hostMtime === undefined || !sameTime(inode.hostMtime, mtime)) inode.mtime = inode.ctime = mtime;
    });
    const counted = new Counted(AT_ONCE);
    for (const inode of this.table.own()) {
      yield* counted.one();
      if (inode.data?.slot !== NO_SLOT || inode.hasFile) continue;
      // Of a file that was never synced, a power failure may leave nothing.
      if (inode.expected === undefined || inode.expected === 0) inode.size = 0;
      else markLost(inode);
    }
    this.#usage.bytes = yield* this.table.countingBytes(this.#usage.bytes);
    this.#retained.reset(yield* this.#liveContents(this.#indexes[0]));
  }

  /** Contents of `table`, which extends `index`, in frozen layers. */
  *#liveContents(index: FrozenIndex | undefined): Steps<LayerContents> {
    const counted = new Counted(AT_ONCE);
    const live = copyContents(index?.contents ?? new Map());
    for (const before of this.table.replaced()) {
      if (hasContents(before)) addContents(live, before.data!.layer, -before.size, -1);
      yield* counted.one();
    }
    for (const inode of this.table.own()) {
      if (hasContents(inode) && this.#contents.isFrozen(inode)) addContents(live, inode.data!.layer, inode.size, 1);
      yield* counted.one();
    }
    for (const [layer, { files }] of live) if (files <= 0) live.delete(layer);
    return live;
  }

  *#rewriting(): Steps<void> {
    const counted = new Counted(AT_ONCE);
    yield* this.#recordHostTimes();
    const needed = new Set<string>();
    for (const inode of this.table.found()) {
      if (hasContents(inode)) needed.add(inode.data!.layer);
      yield* counted.one();
    }
    needed.delete(this.#top);
    const below = [...needed];
    const header = headerFrom(this.table, this.#top, below, '', this.#journal.nextGeneration);
    yield* this.#journal.rewriting(wholeJournal(header, this.table));
    this.#below = below;
    this.#parentLayer = '';
    this.#chainLength = 1;
    this.#rewrittenSize = this.#journal.size;
  }

  /** Starts a rewrite of a long journal. If that is not possible now, a later change tries again. */
  #compactWhenDue(): void {
    if (this.#journal.size <= GROWTH_BYTES + this.#rewrittenSize * GROWTH) return;
    const { startSteps } = this.#layers;
    if (startSteps === undefined) complete(this.#compacting());
    else startSteps(this.#compacting());
  }

  /** Rewrites the journal. A failure (a full disk) is ignored, since it is not one of the current change. */
  *#compacting(): Steps<void> {
    try {
      yield* this.#rewriting();
    } catch {
      this.#rewrittenSize = this.#journal.size;
    }
  }

  *#recordingTimes(): Steps<void> {
    const counted = new Counted(AT_ONCE);
    const ops: Op[] = [];
    const inodes = [...this.#written];
    for (const inode of inodes) {
      ops.push(this.attrOp(inode, inode));
      yield* counted.one();
    }
    if (ops.length > 0) yield* this.committing(ops);
    for (const inode of inodes) this.#written.delete(inode);
  }

  #recordTimes(inodes: readonly Inode[]): void {
    // Unlinked inodes are included: they may be linked, and frozen ones are described by their record.
    const ops = inodes.map((inode) => this.attrOp(inode, inode));
    if (ops.length > 0) this.commit(ops);
    for (const inode of inodes) this.#written.delete(inode);
  }

  *#recordHostTimes(): Steps<void> {
    for (const inode of this.#written) {
      if (inode.hasFile) inode.hostMtime = this.#contents.fileStat(inode).mtime;
      yield;
    }
    this.#written.clear();
  }
}

function headerFrom(
  { nextId, nextIno }: InodeTable,
  top: string,
  below: readonly string[],
  continues: string,
  generation: number,
): Header {
  return [FORMAT, VERSION, nextId, nextIno, top, below, continues, generation];
}

function* wholeJournal(header: Header, table: InodeTable): Generator<Header | Op[]> {
  yield header;
  yield* snapshot(table);
}

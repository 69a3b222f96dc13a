import { mkdirSync, rmSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { Counted, complete, type Steps } from '../../fuse/connection/steps.ts';
import type { HostFile } from '../../host-tree/host-file.ts';
import { ESTALE } from '../../linux/errno.ts';
import type { Time } from '../../linux/time.ts';
import { sameTime } from '../clock.ts';
import { ContentStore } from './contents/content-store.ts';
import { statData } from './contents/data-files.ts';
import { readFile, truncateFile, writeFile } from './contents/host-io.ts';
import type { LargeCopies } from './contents/large-copies.ts';
import { NO_SLOT, SMALL } from './contents/slabs.ts';
import { asDamage } from './damage.ts';
import type { Inode } from './index/inode.ts';
import { InodeTable } from './index/inode-table.ts';
import { Journal } from './index/journal.ts';
import { type FileBody, FORMAT, type Header, headerOf, type Op, timesOf, VERSION } from './index/records.ts';
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

/** Journals that go on from each other, before the index is written whole again. */
const MAX_CHAIN = 32;
/** A journal is rewritten when it has grown by this much, and by this many times, since it was last written whole. */
const GROWTH_BYTES = 4 << 20;
const GROWTH = 2;
/** What an inode takes in an index that is written whole, about. */
const INDEX_BYTES = 256;
/** Less than so much is not worth a new index. */
const WASTE_BYTES = 64 << 10;
/** So many bytes of layers that nobody needs are worth moving the rest. */
const WORTHWHILE = 4 << 20;
/** Inodes looked at, or operations made, in one step. */
const AT_ONCE = 16;
/** What the contents of a file take more than their size, at most. */
const BLOCK = 4096;

/** Where the layers of a delta lie. */
export interface LayersOf {
  /** Host directory of the layers of all deltas that may share some. */
  root: string;
  /** Of the names of its own layers: no other delta has it. */
  prefix: string;
  frozen: FrozenLayers;
  copies: LargeCopies;
  /** Told once of each file whose contents are damaged. */
  damaged?: (inode: Inode, message: string) => void;
  /** The frozen layer that a delta without a journal starts from. */
  origin?: string | undefined;
  /**
   * Has steps done between requests, with nothing else done to the delta until their end; false: not now. Absent: they are
   * done at once.
   */
  startSteps?: ((steps: Steps<unknown>) => boolean) | undefined;
}

/**
 * What one sandbox changed, on disk: `journal` (the index) and layers (contents of files). Every change is journaled
 * before it is made, so the index in memory and the one on disk are the same at every moment. One process at a time.
 * Only the top layer is written to. A frozen one holds its contents, and the index as it was then; the journal goes on
 * from that, and so may those of others.
 */
export class Delta {
  table = new InodeTable();
  /** An older server left what it is. */
  older = false;
  readonly #layers: LayersOf;
  #top!: string;
  /** The other layers that are needed. */
  #below: readonly string[] = [];
  /** The one whose index the journal goes on from, or ''. */
  #parentLayer = '';
  /** Some of what `absorb` is to move was moved. */
  #absorbing = false;
  /** Inodes of what `table` goes on from that had no name then: open, or on their way to one. */
  #orphans: readonly number[] = [];
  /** What `table` goes on from, and others that are kept in memory by that. */
  readonly #indexes: FrozenIndex[] = [];
  /** Journals that lead here, with its own. */
  #chainLength = 1;
  #contents!: ContentStore;
  readonly #journal: Journal;
  readonly #now: () => Time;
  /** Files whose times are newer than their record: their data file was written to since. */
  readonly #written = new Set<Inode>();
  readonly #retained: Retained;
  readonly #usage: Usage;
  #releasing = false;
  #rewrittenSize = 0;
  /** Of the journal with nothing but its header. */
  #headerSize = 0;

  private constructor(dir: string, layers: LayersOf, quota: Quota, now: () => Time) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#journal = new Journal(`${dir}/journal`);
    this.#layers = layers;
    const { root, frozen } = layers;
    this.#retained = new Retained(layers.prefix, {
      read: (layer) => readSummary(root, layer),
      making: (layer) => makingSummary(root, layer, frozen),
    });
    this.#usage = new Usage(quota, this.#retained);
    this.#now = now;
  }

  /**
   * Reads the delta in `dir`, made when absent, a part at a time: until the end nobody has it. Throws Damage when it is
   * damaged, lost or of another version.
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

  /** The layer that is written to. */
  get layer(): string {
    return this.#top;
  }

  /** Apparent size of all contents, unnamed ones that are still open among them. */
  get bytes(): number {
    return this.#usage.bytes;
  }

  get inodes(): number {
    return this.table.size;
  }

  /** What is kept on the disk besides, for the sandbox's checkpoints. */
  get retained(): Readonly<Sum> {
    return this.#retained;
  }

  newId(): number {
    return this.table.nextId++;
  }

  /**
   * Journals the operations as one, then makes them. Throws ENOSPC and the like with nothing changed; less so when what
   * they are about `makesRoom`.
   */
  commit(ops: readonly Op[], makesRoom = false): void {
    this.#requireHeader();
    this.#journal.append(ops, makesRoom);
    for (const op of ops) this.#apply(op);
    this.#compactWhenDue();
  }

  /**
   * As `commit`, of many operations a part at a time. Until the end the journal has all of them or, to whoever loads it,
   * none, and the table has some: the caller lets nobody else use the delta meanwhile.
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
    this.table.apply(op);
    if (op[0] === 'new') this.#usage.bytes += this.table.get(op[1])!.size;
  }

  /** Throws EDQUOT when so many more inodes are too many. */
  claimInodes(count: number): void {
    this.#usage.claimInodes(count, this.table.size);
  }

  claimBytes(count: number): void {
    this.#usage.claimBytes(count, this.#contents.pendingBytes);
  }

  /**
   * Before a file is written to, up to `end`. Throws EDQUOT when what it grows by, with what checkpoints keep of it as it
   * was, is too much.
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

  /** Those of a file that lie in a frozen layer: they stay there when the file gets others. */
  #sharedContents(inode: Inode): { layer: string; size: number } | undefined {
    if (!this.#contents.isFrozen(inode) || !hasContents(inode)) return undefined;
    return { layer: inode.data!.layer, size: inode.size };
  }

  /**
   * The frozen layers that the sandbox's checkpoints are now. Returns what is to be done before all that they keep is
   * counted, if anything is.
   */
  setCheckpoints(layers: readonly string[]): Steps<void> | undefined {
    return this.#retained.setCheckpoints(layers) ? undefined : this.#retained.makeSummaries();
  }

  /** An inode lost its last name while the kernel still knows it. */
  unlinked(inode: Inode): void {
    this.#usage.unlinked(inode);
  }

  /**
   * A copy of an open host file's `size` bytes for an inode to be: where it lies, as its record has it. Kept by
   * `adopt` after the record, or dropped. A crash before leaves litter that the next load removes, never half a file.
   */
  copyIn(from: number, size: number, id: number): FileBody {
    // A layer with something in it belongs to a delta with a journal.
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

  discard([layer, id, slot]: FileBody): void {
    this.#contents.discard({ layer, id, slot });
  }

  /** The inode of a record with a body of `copyIn`. */
  adopt(inode: Inode): void {
    inode.hasFile = inode.data!.slot === NO_SLOT;
    this.#contents.assign(inode);
  }

  /** The data file, open for reading and writing; made when there is none. The caller closes it. */
  openFile(inode: Inode): number {
    return this.#contents.open(inode);
  }

  /** The data file there is. */
  hostFile(inode: Inode): HostFile {
    return this.#contents.hostFile(inode);
  }

  /**
   * Before a file is written to (`contents`: not from scratch): one whose data file is shared gets its own. True: the
   * data file is another one than before, or gone.
   */
  thaw(inode: Inode, contents: boolean): boolean {
    if (!inode.hasFile || !this.#contents.isFrozen(inode)) return false;
    this.#contents.thawFile(inode, contents);
    return true;
  }

  /** All contents of a file that has no data file. */
  small(inode: Inode): Buffer {
    return this.#contents.small(inode);
  }

  /** Here and below, `fd` gives the data file, opened by `openFile`. */
  read(inode: Inode, offset: number, into: Buffer, fd: () => number): number {
    return this.#contents.read(inode, offset, into, fd);
  }

  /** Returns how much was written: less than all when the disk filled up, but something. */
  write(inode: Inode, offset: number, data: Buffer, fd: () => number): number {
    if (this.#contents.writeSmall(inode, offset, data)) return data.length;
    const done = writeFile(fd(), offset, data);
    this.#wrote(inode, Math.max(inode.size, offset + done));
    return done;
  }

  truncate(inode: Inode, size: number, fd: () => number): void {
    if (this.#contents.truncateSmall(inode, size)) return;
    const file = fd();
    try {
      truncateFile(file, size);
    } finally {
      this.#wrote(inode, statData(file).size);
    }
  }

  /** After a data file changed: the times are shown now, and recorded with the next attributes. */
  #wrote(inode: Inode, size: number): void {
    const before = inode.size;
    inode.size = size;
    this.#usage.resized(inode, size - before);
    inode.mtime = inode.ctime = this.#now();
    inode.writes++;
    this.#written.add(inode);
    this.#contents.markUnsynced(inode);
  }

  /** The record of an inode's attributes as they are to be. */
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

  /** Forgets an inode that has no name and is not open: its contents go. Of one that was released before, nothing. */
  release(inode: Inode): void {
    // A commit and a discard release what their nodes showed, then all that lost its name: usage counts each once.
    if (!this.table.remove(inode)) return;
    this.#written.delete(inode);
    this.#usage.released(inode);
    if (inode.isDirectory) return;
    if (inode.data === undefined) return;
    const shared = this.#sharedContents(inode);
    if (shared !== undefined) this.#retained.superseded(shared.layer, shared.size);
    this.#contents.release(inode, this.#releasing);
    if (this.#contents.waitsForJournal && !this.#releasing) this.#syncJournal();
  }

  /** For an `act` that releases many: nothing is synced, moved or cut off for each of them. `trim` follows. */
  *releasing<T>(act: Steps<T>): Steps<T> {
    this.#releasing = true;
    try {
      return yield* act;
    } finally {
      this.#releasing = false;
    }
  }

  /** Gives a part of what was released back to the disk; false: nothing is left to be. */
  trim(): boolean {
    return this.#contents.trim();
  }

  /** Makes one file outlive a power failure, its name included. */
  syncInode(inode: Inode, datasync: boolean): void {
    this.#contents.sync(inode, datasync);
    if (this.#written.has(inode)) this.#recordTimes([inode]);
    this.#syncJournal();
  }

  /** Makes everything outlive a power failure. */
  sync(): void {
    this.#contents.syncAll();
    this.#recordTimes([...this.#written]);
    this.#syncJournal();
  }

  /** Throws when the disk refuses the last changes of times; everything else is on it already. */
  close(): void {
    try {
      this.sync();
    } finally {
      this.#releaseIndexes();
      this.#contents.close();
    }
  }

  #releaseIndexes(): void {
    this.#journal.close();
    for (const index of this.#indexes.splice(0)) this.#layers.frozen.release(index);
  }

  /**
   * Makes what there is now a frozen layer, which is on disk when it returns as far as the index goes; answers its name.
   * The journal's replacement by one that goes on from it is the moment: before it, nothing has happened, and in the same
   * step the table in memory goes on from it, too. A delta that has not changed since answers the same. The caller lets
   * nobody use the delta between the steps.
   */
  *freezing(): Steps<string> {
    yield* this.#recordingTimes();
    this.#requireHeader();
    if (this.#parentLayer !== '' && this.#journal.size === this.#headerSize) {
      this.#journal.confirm();
      return this.#parentLayer;
    }
    if (this.#chainLength >= MAX_CHAIN) yield* this.#rewriting();
    else if (this.#isWasteful) yield* this.#compacting();
    const { root } = this.#layers;
    const frozen = this.#top;
    const contents = (yield* countingContents(this.table.own())).get(frozen);
    const nameless = (yield* this.table.findingUnlinked(this.#orphans)).map(({ id }) => id);
    mkdirSync(layerPath(root, frozen), { recursive: true, mode: 0o700 });
    this.#syncJournal();
    this.#journal.linkTo(indexPath(root, frozen));
    const index = this.#journal.size;
    this.#startJournal(frozen, [...this.#below, frozen], this.#nextTop());
    this.#retained.frozen(frozen, contents);
    this.#contents.freeze(this.#top);
    this.#shareIndex(frozen, nameless);
    this.#chainLength++;
    writeSummary(root, frozen, { index, layers: this.#below, contents: this.#retained.live });
    if (this.table.depth > MAX_CHAIN) yield* this.#flattening();
    this.#journal.confirm();
    return frozen;
  }

  /**
   * The index is much longer than one that is written whole, or needs layers with nothing of the present state in them: all
   * of that would stay for as long as what is frozen now.
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

  /** Bytes of the index that a freeze would leave. */
  get indexToFreeze(): number {
    return this.#journal.size === this.#headerSize ? 0 : this.#journal.size;
  }

  /** Whether its files and what its checkpoints keep, with so many bytes more, are above the quota. */
  isAboveQuota(more: number): boolean {
    return this.#usage.isAbove(more + this.#contents.pendingBytes, this.table.size);
  }

  /**
   * The bytes in frozen layers, for nothing of the present state and of no checkpoint that counts for the quota, when they
   * are more than `limit` and it would be worth it to have them removed; `checkpoint`: of its state instead of the present one.
   */
  *findingRemainsAbove(limit: number, checkpoint: string): Steps<number | undefined> {
    const { bytes, layers, live } = this.#retained.garbage(checkpoint);
    if (bytes <= Math.max(limit, WORTHWHILE)) return undefined;
    const disk = yield* this.#diskSize(layers);
    // `absorb` leaves what is less, so nothing could be done about it.
    const used = live.bytes + live.files * BLOCK;
    return disk - used <= Math.max(limit, WORTHWHILE, used) ? undefined : bytes;
  }

  *#diskSize(layers: Iterable<string>): Steps<number> {
    let bytes = 0;
    for (const layer of layers) bytes += yield* this.#contents.diskSize(layer);
    return bytes;
  }

  /** What is in memory becomes the frozen layer's, and is gone on from. */
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

  /** One table for many that go on from each other; just after a freeze, when nothing but nodes knows any inode. */
  *#flattening(): Steps<void> {
    const { table } = this;
    table.frozen = true;
    const flat = yield* table.flattening();
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
   * Has what a frozen layer had, and nothing else any more; durable after `confirm`. All inodes from before are void: not even
   * open ones have contents. The caller removes the layers that nobody needs, and lets nobody use the delta between the
   * steps.
   */
  *rollingBack(layer: string): Steps<void> {
    const { root, frozen } = this.#layers;
    const counted = new Counted(AT_ONCE);
    const index = yield* frozen.acquiring(root, layer);
    const table = new InodeTable(index.table);
    table.nextId = Math.max(table.nextId, this.table.nextId);
    table.nextIno = Math.max(table.nextIno, this.table.nextIno);
    try {
      this.#startJournal(layer, index.layers, this.#nextTop(), table);
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
    for (const inode of yield* table.findingUnlinked(index.orphans)) {
      table.remove(inode);
      yield* counted.one();
    }
    this.#usage.reset(yield* table.countingBytes(index.bytes));
    this.#retained.reset(yield* this.#liveContents(index));
  }

  /** After `rollback`: returns when a power failure cannot undo it. Throws when that is not known. */
  confirm(): void {
    this.#journal.confirm();
  }

  /**
   * Takes what it needs of these layers, which no other delta and no checkpoint may need, into its own, so that they can
   * be removed with all that is in them and that nobody needs. Asked for again and again, since a call moves `limit`
   * contents at most: 'done' when the journal, durably, needs them no more, and 'kept' when that would free too little.
   * `moved` is told whose data file is another one from then on. The caller lets nobody use the delta between the steps.
   */
  *absorbing(layers: readonly string[], limit: number, moved: (inode: Inode) => void): Steps<'more' | 'done' | 'kept'> {
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
    if (!this.#absorbing && from.size < MAX_CHAIN) {
      if ((yield* this.#diskSize(from)) - live < Math.max(WORTHWHILE, live)) return 'kept';
    }
    this.#absorbing = true;
    for (const id of shared.slice(0, limit)) {
      const inode = this.table.get(id)!;
      this.#contents.absorb(inode);
      moved(inode);
      yield* counted.one();
    }
    if (shared.length > limit) return 'more';
    this.#absorbing = false;
    this.#contents.syncAll();
    yield* this.#rewriting();
    this.#journal.confirm();
    return 'done';
  }

  #nextTop(): string {
    const { prefix } = this.#layers;
    return newLayer(prefix, countOf(prefix, this.#top));
  }

  #startJournal(continues: string, below: readonly string[], top: string, table = this.table): void {
    this.#journal.rewrite([headerFrom(table, top, below, continues, this.#journal.nextGeneration)]);
    this.#parentLayer = continues;
    this.#below = below;
    this.#top = top;
    this.#absorbing = false;
    this.#headerSize = this.#rewrittenSize = this.#journal.size;
  }

  #requireHeader(): void {
    if (this.#journal.size > 0) return;
    this.#journal.begin(headerFrom(this.table, this.#top, this.#below, this.#parentLayer, 0));
    this.#headerSize = this.#journal.size;
  }

  #syncJournal(): void {
    this.#journal.sync();
    this.#contents.journalSynced();
  }

  /** Returns the records after it. */
  *#readHeader(): Steps<readonly Op[][]> {
    const { prefix, root, frozen, origin } = this.#layers;
    const records = yield* this.#journal.loading();
    this.older = records.length > 0 && headerOf(records)[1] !== VERSION;
    this.#parentLayer = origin ?? '';
    if (records.length > 0) {
      [, , , , this.#top, this.#below, this.#parentLayer] = headerOf(records);
      // A crash before the journal went on from it.
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
        this.table.apply(op);
        yield* counted.one();
      }
    }
    yield* this.table.resolvingMerges();
    for (const inode of yield* this.table.findingUnlinked(this.#orphans)) {
      this.table.remove(inode);
      yield* counted.one();
    }
    yield* this.#loadData();
    this.#rewrittenSize = this.#journal.size;
    if (lines.length === 0) this.#headerSize = this.#journal.size;
    if (lines.length > 2 * this.table.size + 1000) yield* this.#rewriting();
    else if (!this.#journal.sealed && this.#journal.size > 0) yield* this.#addChecksums(lines);
  }

  /** Converts a journal of an older server. On a full disk it stays what it is for now, and is gone on from. */
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
    yield* ContentStore.findFrozen(
      root,
      [...this.table.own()].filter((inode) => this.#contents.isFrozen(inode)),
    );
    yield* this.#contents.load(this.table.own(), (inode, size, mtime) => {
      inode.size = size;
      // Written to since its record: the next one tells.
      if (inode.expected !== size) this.#written.add(inode);
      if (inode.hostMtime === undefined || !sameTime(inode.hostMtime, mtime)) inode.mtime = inode.ctime = mtime;
    });
    const counted = new Counted(AT_ONCE);
    for (const inode of this.table.own()) {
      yield* counted.one();
      if (inode.data?.slot !== NO_SLOT || inode.hasFile) continue;
      // Of a file that was never synced a power failure may leave nothing.
      if (inode.expected === undefined || inode.expected === 0) inode.size = 0;
      else ContentStore.markLost(inode);
    }
    this.#usage.bytes = yield* this.table.countingBytes(this.#usage.bytes);
    this.#retained.reset(yield* this.#liveContents(this.#indexes[0]));
  }

  /** What `table`, which goes on from `index`, has in frozen layers. */
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

  /** The moment it is due may be one at which it cannot be begun: then it is at a later change. */
  #compactWhenDue(): void {
    if (this.#journal.size <= GROWTH_BYTES + this.#rewrittenSize * GROWTH) return;
    const { startSteps } = this.#layers;
    if (startSteps === undefined) complete(this.#compacting());
    else startSteps(this.#compacting());
  }

  /** Failing to shorten the journal (a full disk) is no failure of the change that was just made. */
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
    // Also of those without a name: they may get one, and what was frozen of them is told from its record.
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
  yield* table.snapshot();
}

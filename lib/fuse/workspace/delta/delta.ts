import { mkdirSync } from 'node:fs';
import type { ByteString, Time } from '../../filesystem.ts';
import { sameTime } from '../clock.ts';
import { EDQUOT } from '../errno.ts';
import { closeQuietly, DataFiles, statData } from './data-files.ts';
import type { DataRef, Inode } from './inode.ts';
import { InodeTable } from './inode-table.ts';
import { Journal } from './journal.ts';
import { FORMAT, type Header, type Op, timesOf, VERSION } from './records.ts';

/** The layer that is written to. Others are frozen and may be shared. */
const TOP = '0';
/** A journal is rewritten when it has grown by this much, and by this many times, since it was last written whole. */
const GROWTH_BYTES = 4 << 20;
const GROWTH = 2;

/**
 * The kernel tells of a last close a little late: what was just removed may still count when the next file is made. So
 * much of what has no name any more is not held against the sandbox.
 */
const LATE_BYTES = 64 << 20;
const LATE_INODES = 1024;

export interface Quota {
  /** 0: none. */
  maxBytes: number;
  maxFiles: number;
}

/**
 * What one sandbox changed, on disk: `journal` (the index) and `data` (contents of files). Every change is journaled
 * before it is made, so the index in memory and the one on disk are the same at every moment. One process at a time.
 */
export class Delta {
  readonly table = new InodeTable();
  readonly layer = TOP;
  readonly #files: DataFiles;
  readonly #journal: Journal;
  readonly #quota: Quota;
  /** Files whose times are newer than their record: written to since. */
  readonly #written = new Set<Inode>();
  /** Files with contents the disk may not have yet. */
  readonly #unsynced = new Set<Inode>();
  readonly #unnamed = new Set<Inode>();
  #unnamedBytes = 0;
  #rewrittenSize = 0;
  /** Apparent size of all contents, unnamed ones that are still open among them. */
  bytes = 0;

  /** Reads the delta in `dir`, made when absent. Throws when it is damaged or of another version. */
  constructor(dir: string, quota: Quota) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#files = new DataFiles(`${dir}/data`);
    this.#journal = new Journal(`${dir}/journal`);
    this.#quota = quota;
    this.#load();
  }

  get inodes(): number {
    return this.table.size;
  }

  newRef(): DataRef {
    return { layer: TOP, id: this.table.nextId++ };
  }

  /** Journals the operations as one, then makes them. Throws ENOSPC and the like with nothing changed. */
  commit(ops: readonly Op[]): void {
    if (this.#journal.size === 0) this.#journal.append(this.table.header());
    this.#journal.append(ops);
    for (const op of ops) {
      this.table.apply(op);
      if (op[0] === 'new') this.bytes += this.table.get(op[1])!.size;
    }
    if (this.#journal.size > GROWTH_BYTES + this.#rewrittenSize * GROWTH) this.#compact();
  }

  /** Throws EDQUOT when so many more inodes are too many. */
  claimInodes(count: number): void {
    const { maxFiles } = this.#quota;
    const room = maxFiles + Math.min(this.#unnamed.size, maxFiles, LATE_INODES);
    if (count > 0 && maxFiles > 0 && this.table.size + count > room) throw EDQUOT;
  }

  claimBytes(count: number): void {
    const { maxBytes } = this.#quota;
    const room = maxBytes + Math.min(this.#unnamedBytes, maxBytes, LATE_BYTES);
    if (count > 0 && maxBytes > 0 && this.bytes + count > room) throw EDQUOT;
  }

  /** An inode lost its last name while the kernel still knows it. */
  unnamed(inode: Inode): void {
    if (this.#unnamed.has(inode)) return;
    this.#unnamed.add(inode);
    this.#unnamedBytes += inode.size;
  }

  copyData(from: number, ref: DataRef): Time {
    return this.#files.copy(from, ref);
  }

  dropData(ref: DataRef): void {
    this.#files.remove(ref);
  }

  /** The contents, open for reading and writing; made when there are none yet. The caller closes it. */
  openData(inode: Inode): number {
    const fd = this.#files.open(inode.data!, !inode.hasData);
    inode.hasData = true;
    return fd;
  }

  /** Host path of the contents there are, as bytes and without symlinks. */
  dataPath(inode: Inode): ByteString {
    return this.#files.realPath(inode.data!);
  }

  /** Contents that were copied in before the inode's record was committed. */
  adoptData(inode: Inode, size: number): void {
    inode.hasData = true;
    inode.size = size;
    this.bytes += size;
    this.#unsynced.add(inode);
  }

  /** After contents changed size, for better or worse. */
  resized(inode: Inode, size: number): void {
    this.bytes += size - inode.size;
    if (this.#unnamed.has(inode)) this.#unnamedBytes += size - inode.size;
    inode.size = size;
  }

  /** After contents changed: `now` is shown, and recorded with the next attributes. */
  wrote(inode: Inode, now: Time): void {
    inode.mtime = inode.ctime = now;
    inode.writes++;
    this.#written.add(inode);
    this.#unsynced.add(inode);
  }

  /** The record of an inode's attributes as they are to be. */
  attrOp(inode: Inode, to: Pick<Inode, 'mode' | 'uid' | 'gid' | 'atime' | 'mtime' | 'ctime'>, fd?: number): Op {
    const host = inode.hasData ? this.#hostMtime(inode, fd) : undefined;
    return ['attr', inode.id, to.mode, to.uid, to.gid, timesOf(to), host?.sec ?? 0, host?.nsec ?? 0];
  }

  /** Forgets an inode that has no name and is not open: its contents go. */
  release(inode: Inode): void {
    this.table.remove(inode);
    this.#written.delete(inode);
    this.#unsynced.delete(inode);
    if (this.#unnamed.delete(inode)) this.#unnamedBytes -= inode.size;
    if (inode.isDirectory) return;
    this.bytes -= inode.size;
    if (inode.hasData) this.#files.remove(inode.data!);
  }

  /** Makes one file outlive a power failure, its name included. */
  syncInode(inode: Inode, datasync: boolean): void {
    if (inode.hasData) this.#files.sync(inode.data!, datasync);
    this.#unsynced.delete(inode);
    if (this.#written.has(inode)) this.#recordTimes([inode]);
    this.#journal.sync();
  }

  /** Makes everything outlive a power failure. */
  sync(): void {
    this.#files.syncAll([...this.#unsynced].filter((inode) => inode.hasData).map((inode) => inode.data!));
    this.#unsynced.clear();
    this.#recordTimes([...this.#written]);
    this.#journal.sync();
  }

  /** Throws when the disk refuses the last changes of times; everything else is on it already. */
  close(): void {
    try {
      this.sync();
    } finally {
      this.#journal.close();
    }
  }

  #load(): void {
    const [header, ...lines] = this.#journal.load();
    if (header === undefined) return;
    const [format, version, nextId, nextIno] = header as Header;
    if (format !== FORMAT || version !== VERSION) throw new Error(`not a delta of version ${VERSION}`);
    for (const line of lines as Op[][]) for (const op of line) this.table.apply(op);
    this.table.nextId = Math.max(this.table.nextId, nextId);
    this.table.nextIno = Math.max(this.table.nextIno, nextIno);
    for (const inode of this.table.unnamed()) this.table.remove(inode);
    this.#loadData();
    this.#rewrittenSize = this.#journal.size;
    if (lines.length > 2 * this.table.size + 1000) this.#rewrite();
  }

  #loadData(): void {
    const byData = new Map<number, Inode>();
    for (const inode of this.table.values()) {
      this.bytes += inode.size;
      if (inode.data !== undefined) byData.set(inode.data.id, inode);
    }
    this.#files.sweep(TOP, (id, size, mtime) => {
      const inode = byData.get(id);
      // Also an id no record has yet may be taken by litter: never give it out again.
      if (inode === undefined) return false;
      inode.hasData = true;
      inode.size = size;
      this.bytes += size;
      if (inode.hostMtime === undefined || !sameTime(inode.hostMtime, mtime)) inode.mtime = inode.ctime = mtime;
      return true;
    });
  }

  #rewrite(): void {
    this.#recordHostTimes();
    this.#journal.rewrite(this.table.snapshot());
    this.#rewrittenSize = this.#journal.size;
  }

  /** Failing to shorten the journal (a full disk) is no failure of the change that was just made. */
  #compact(): void {
    try {
      this.#rewrite();
    } catch {
      this.#rewrittenSize = this.#journal.size;
    }
  }

  #recordTimes(inodes: readonly Inode[]): void {
    const ops = inodes.filter((inode) => inode.names > 0).map((inode) => this.attrOp(inode, inode));
    if (ops.length > 0) this.commit(ops);
    for (const inode of inodes) this.#written.delete(inode);
  }

  #recordHostTimes(): void {
    for (const inode of this.#written) if (inode.hasData) inode.hostMtime = this.#hostMtime(inode);
    this.#written.clear();
  }

  #hostMtime(inode: Inode, open?: number): Time {
    const fd = open ?? this.#files.open(inode.data!, false);
    try {
      return statData(fd).mtime;
    } finally {
      if (open === undefined) closeQuietly(fd);
    }
  }
}

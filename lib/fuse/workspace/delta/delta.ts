import { mkdirSync } from 'node:fs';
import type { ByteString, Time } from '../../filesystem.ts';
import { sameTime } from '../clock.ts';
import { EDQUOT, ESTALE } from '../errno.ts';
import { ContentStore } from './content-store.ts';
import { statData } from './data-files.ts';
import { readFile, truncateFile, writeFile } from './host-io.ts';
import type { Inode } from './inode.ts';
import { InodeTable } from './inode-table.ts';
import { Journal } from './journal.ts';
import { type FileBody, FORMAT, type Header, type Op, timesOf, VERSION } from './records.ts';
import { NO_SLOT, SMALL } from './slabs.ts';

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
  readonly #contents: ContentStore;
  readonly #journal: Journal;
  readonly #quota: Quota;
  readonly #now: () => Time;
  /** Files whose times are newer than their record: their data file was written to since. */
  readonly #written = new Set<Inode>();
  readonly #unnamed = new Set<Inode>();
  #unnamedBytes = 0;
  #rewrittenSize = 0;
  /** Apparent size of all contents, unnamed ones that are still open among them. */
  bytes = 0;

  /** Reads the delta in `dir`, made when absent. Throws when it is damaged or of another version. */
  constructor(dir: string, quota: Quota, now: () => Time) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#journal = new Journal(`${dir}/journal`);
    this.#contents = new ContentStore(`${dir}/data`, TOP, {
      placed: (inode, { layer, id, slot }) => this.commit([['place', inode.id, layer, id, slot]]),
      changed: (inode, { layer, id, slot }, size) => {
        const before = inode.size;
        const now = this.#now();
        this.commit([['data', inode.id, layer, id, slot, size, now.sec, now.nsec]]);
        this.#counted(inode, size - before);
      },
    });
    this.#quota = quota;
    this.#now = now;
    this.#load();
  }

  get inodes(): number {
    return this.table.size;
  }

  newId(): number {
    return this.table.nextId++;
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

  /**
   * A copy of an open host file's `size` bytes for an inode to be: where it lies, as its record has it. Kept by
   * `adopt` after the record, or dropped. A crash before leaves litter that the next load removes, never half a file.
   */
  copyIn(from: number, size: number, id: number): FileBody {
    if (size <= SMALL) {
      const bytes = Buffer.allocUnsafe(size);
      if (readFile(from, 0, bytes) !== size) throw ESTALE;
      const { layer, slot } = this.#contents.putSmall(bytes, id);
      return [layer, id, slot, size, 0, 0];
    }
    const { sec, nsec } = this.#contents.putFile(from, { layer: TOP, id });
    return [TOP, id, NO_SLOT, size, sec, nsec];
  }

  drop([layer, id, slot]: FileBody): void {
    this.#contents.drop({ layer, id, slot });
  }

  /** The inode of a record with a body of `copyIn`. */
  adopt(inode: Inode): void {
    inode.hasFile = inode.data!.slot === NO_SLOT;
    this.#contents.keep(inode);
  }

  /** The data file, open for reading and writing; made when there is none. The caller closes it. */
  openFile(inode: Inode): number {
    return this.#contents.open(inode);
  }

  /** Host path of the data file there is, as bytes and without symlinks. */
  filePath(inode: Inode): ByteString {
    return this.#contents.filePath(inode);
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
    this.#counted(inode, size - before);
    inode.mtime = inode.ctime = this.#now();
    inode.writes++;
    this.#written.add(inode);
    this.#contents.touched(inode);
  }

  #counted(inode: Inode, bytes: number): void {
    this.bytes += bytes;
    if (this.#unnamed.has(inode)) this.#unnamedBytes += bytes;
  }

  /** The record of an inode's attributes as they are to be. */
  attrOp(inode: Inode, to: Pick<Inode, 'mode' | 'uid' | 'gid' | 'atime' | 'mtime' | 'ctime'>, fd?: number): Op {
    const host = inode.hasFile ? this.#contents.fileTime(inode, fd) : undefined;
    return ['attr', inode.id, to.mode, to.uid, to.gid, timesOf(to), host?.sec ?? 0, host?.nsec ?? 0];
  }

  /** Forgets an inode that has no name and is not open: its contents go. */
  release(inode: Inode): void {
    this.table.remove(inode);
    this.#written.delete(inode);
    if (this.#unnamed.delete(inode)) this.#unnamedBytes -= inode.size;
    if (inode.isDirectory) return;
    this.bytes -= inode.size;
    if (inode.data === undefined) return;
    this.#contents.release(inode);
    if (this.#contents.waitsForJournal) this.#syncJournal();
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
      this.#journal.close();
      this.#contents.close();
    }
  }

  #syncJournal(): void {
    this.#journal.sync();
    this.#contents.journalSynced();
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
    this.#contents.load(this.table.values(), (inode, size, mtime) => {
      inode.size = size;
      if (inode.hostMtime === undefined || !sameTime(inode.hostMtime, mtime)) inode.mtime = inode.ctime = mtime;
    });
    for (const inode of this.table.values()) {
      // A power failure took the data file.
      if (inode.data?.slot === NO_SLOT && !inode.hasFile) inode.size = 0;
      this.bytes += inode.size;
    }
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
    for (const inode of this.#written) if (inode.hasFile) inode.hostMtime = this.#contents.fileTime(inode);
    this.#written.clear();
  }
}

// Size: one class whose fields are packed; accessors keep its users from knowing how.

import { type ByteString, NO_BYTES } from '../../../byte-string.ts';
import { Counted, type Steps } from '../../../fuse/connection/steps.ts';
import { isDirectory, S_IFLNK, S_IFMT } from '../../../linux/mode.ts';
import type { Time } from '../../../linux/time.ts';
import { Entries, type Sharing } from './entries.ts';
import { removeUnordered } from './remove-unordered.ts';

/** A hard link: a directory entry of an inode. */
export interface Link {
  readonly dir: Inode;
  readonly name: ByteString;
}

/** The data file `id` of a layer. */
export interface FileRef {
  readonly layer: string;
  readonly id: number;
}

/** Location of a file's contents: a slot of the layer's slabs or, with NO_SLOT, the data file, if there is one. */
export interface DataRef extends FileRef {
  readonly slot: number;
}

/** A whiteout: a name that the sandbox removed although the base has it. It exists only in the index, not as a file. */
export const WHITEOUT = null;

/** An entry of a directory of the index. */
type Entry = Inode | typeof WHITEOUT;

/** Names processed in one step. */
const AT_ONCE = 64;

/** The table that an inode belongs to. */
export interface Owner extends Sharing<Entry> {
  /** The table is immutable; the table that extends it has a copy of each inode that changes. */
  frozen: boolean;
}

/** Fields that few inodes need. */
interface Rare {
  aliases: number;
  /** Links except the first. */
  links: Link[] | undefined;
  hostMtime: Time | undefined;
  /** The inode whose links these are, until they are first used. */
  shared: Inode | undefined;
}

/** First inode number of new inodes: above those of host file systems, below 2^53. */
export const FIRST_INO = 2 ** 48;

const HAS_FILE = 1;
const VERIFIED = 2;
const SHORTENED = 4;
const LOST = 8;
const MERGES = 16;
const MERGES_UNKNOWN = 32;
/** The links are those of `Rare.shared`. */
const LINKS_SHARED = 64;

/**
 * An inode of the delta: something that the sandbox created or changed. Its type (in `mode`) decides which fields are
 * used. A sandbox can have millions of inodes, so numbers and flags are packed, and rare fields are in an object of
 * their own.
 */
export class Inode {
  readonly owner: Owner;
  /** Identifies the inode in this delta and its journal. Never reused. */
  readonly id: number;
  /** Numbers of new inodes are stored as small negative ones, which V8 stores without a heap allocation. */
  readonly #ino: number;
  mode: number;
  uid: number;
  gid: number;
  #atimeSec: number;
  #atimeNsec: number;
  #mtimeSec: number;
  #mtimeNsec: number;
  #ctimeSec: number;
  #ctimeNsec: number;
  size = 0;
  /** Counts changes of contents and mode since this process loaded the inode. */
  writes = 0;
  #flags = 0;
  /** Directory: origin. Symlink: target. Device: rdev. */
  #special: ByteString | number | undefined;
  #data: DataRef | undefined;
  /** A checksum is stored as a signed number, which V8 stores without a heap allocation. */
  #expected: number | undefined;
  /** The first link. */
  #dir: Inode | undefined;
  #name = NO_BYTES;
  #entries: Entries<Entry> | undefined;
  #rare: Rare | undefined;

  constructor(
    home: Owner,
    id: number,
    ino: number,
    mode: number,
    uid: number,
    gid: number,
    atime: Time,
    mtime: Time,
    ctime: Time,
  ) {
    this.owner = home;
    this.id = id;
    this.#ino = ino < FIRST_INO ? ino : FIRST_INO - 1 - ino;
    this.mode = mode;
    this.uid = uid;
    this.gid = gid;
    this.#atimeSec = atime.sec;
    this.#atimeNsec = atime.nsec;
    this.#mtimeSec = mtime.sec;
    this.#mtimeNsec = mtime.nsec;
    this.#ctimeSec = ctime.sec;
    this.#ctimeNsec = ctime.nsec;
  }

  /**
   * Returns a copy that shares contents, links and entries; `home` copies other inodes at their first use, so that the
   * copy of a large tree costs only what is used. `shared` must not change any more.
   */
  static copyOf(shared: Inode, home: Owner): Inode {
    const { id, ino, mode, uid, gid, atime, mtime, ctime } = shared;
    const inode = new Inode(home, id, ino, mode, uid, gid, atime, mtime, ctime);
    // Versions must compare equal.
    inode.writes = shared.writes;
    inode.size = shared.size;
    inode.#flags = (shared.#flags & ~(VERIFIED | SHORTENED)) | LINKS_SHARED;
    inode.#special = shared.#special;
    inode.#data = shared.#data;
    inode.#expected = shared.#expected;
    inode.#rare = { aliases: shared.aliases, links: undefined, hostMtime: shared.hostMtime, shared };
    if (shared.#entries !== undefined) inode.#entries = new Entries(shared.#entries, home);
    return inode;
  }

  /** st_ino; that of the base if the inode was copied up. */
  get ino(): number {
    return this.#ino < 0 ? FIRST_INO - 1 - this.#ino : this.#ino;
  }

  get atime(): Time {
    return { sec: this.#atimeSec, nsec: this.#atimeNsec };
  }

  set atime({ sec, nsec }: Time) {
    this.#atimeSec = sec;
    this.#atimeNsec = nsec;
  }

  get mtime(): Time {
    return { sec: this.#mtimeSec, nsec: this.#mtimeNsec };
  }

  set mtime({ sec, nsec }: Time) {
    this.#mtimeSec = sec;
    this.#mtimeNsec = nsec;
  }

  get ctime(): Time {
    return { sec: this.#ctimeSec, nsec: this.#ctimeNsec };
  }

  set ctime({ sec, nsec }: Time) {
    this.#ctimeSec = sec;
    this.#ctimeNsec = nsec;
  }

  /** Number of base links without an entry here: the other hard links of a base file that was copied up. */
  get aliases(): number {
    return this.#rare === undefined ? 0 : this.#rare.aliases;
  }

  set aliases(count: number) {
    if (count > 0 || this.#rare !== undefined) this.#makeRare().aliases = count;
  }

  /** Directory: the base directory merged below `entries`. Kept when the directory is renamed. */
  get origin(): ByteString | undefined {
    return this.isDirectory ? (this.#special as ByteString | undefined) : undefined;
  }

  set origin(path: ByteString | undefined) {
    this.#special = path;
  }

  /**
   * Directory without an origin: whether it merges with a base directory of its path, also a later one. False: opaque,
   * since it replaced a base directory. undefined: from an older server, not known yet.
   */
  get merges(): boolean | undefined {
    return this.#has(MERGES_UNKNOWN) ? undefined : this.#has(MERGES);
  }

  set merges(merges: boolean | undefined) {
    this.#set(MERGES_UNKNOWN, merges === undefined);
    this.#set(MERGES, merges === true);
  }

  /** Directory: number of entries that are directories. */
  get subdirs(): number {
    return this.#entries === undefined ? 0 : this.#entries.subdirs;
  }

  set subdirs(count: number) {
    this.entries!.subdirs = count;
  }

  /** Directory: see `Entries.reach`. */
  get reach(): number {
    return this.#entries === undefined ? 0 : this.#entries.reach;
  }

  set reach(bytes: number) {
    this.entries!.reach = bytes;
  }

  /** Device: its number in the kernel's encoding. */
  get rdev(): number {
    return typeof this.#special === 'number' ? this.#special : 0;
  }

  set rdev(rdev: number) {
    this.#special = rdev;
  }

  /** Symlink: its target. */
  get target(): ByteString | undefined {
    return isSymlink(this.mode) ? (this.#special as ByteString | undefined) : undefined;
  }

  set target(target: ByteString | undefined) {
    this.#special = target;
  }

  /**
   * File: whether its data file exists. A file has a data file, a slot, or neither (then it is empty). Applies to the
   * location in `data`.
   */
  get hasFile(): boolean {
    return this.#has(HAS_FILE);
  }

  set hasFile(hasFile: boolean) {
    this.#set(HAS_FILE, hasFile);
  }

  /**
   * File: what its location must contain. In a slot: the CRC-32 of the contents. In a data file: its last recorded
   * size, or -1 if only its existence is known. undefined: nothing is known.
   */
  get expected(): number | undefined {
    return this.#expected === undefined || !this.#isInSlot ? this.#expected : this.#expected >>> 0;
  }

  set expected(expected: number | undefined) {
    this.#expected = expected === undefined || !this.#isInSlot ? expected : expected | 0;
  }

  get #isInSlot(): boolean {
    return this.#data !== undefined && this.#data.slot >= 0;
  }

  /** File: this process has read or written the whole slot, and it is as expected. */
  get verified(): boolean {
    return this.#has(VERIFIED);
  }

  set verified(verified: boolean) {
    this.#set(VERIFIED, verified);
  }

  /**
   * File: its slot had longer contents, which the journal on disk may still record. Bytes beyond the end must not be
   * overwritten.
   */
  get shortened(): boolean {
    return this.#has(SHORTENED);
  }

  set shortened(shortened: boolean) {
    this.#set(SHORTENED, shortened);
  }

  /** File: its data file is missing or has a wrong size. The file can only be removed or truncated to 0. */
  get lost(): boolean {
    return this.#has(LOST);
  }

  set lost(lost: boolean) {
    this.#set(LOST, lost);
  }

  /** File with a data file: that file's mtime when times were last journaled; a later one takes precedence at load. */
  get hostMtime(): Time | undefined {
    return this.#rare?.hostMtime;
  }

  set hostMtime(time: Time | undefined) {
    if (time !== undefined || this.#rare !== undefined) this.#makeRare().hostMtime = time;
  }

  /** File: location of its contents. */
  get data(): DataRef | undefined {
    return this.#data;
  }

  /**
   * Sets the location and forgets what was known of the old one; a caller that moves contents to a data file sets
   * `hasFile` afterwards.
   */
  set data(place: DataRef | undefined) {
    this.#data = place;
    this.#flags &= ~(HAS_FILE | VERIFIED | SHORTENED | LOST);
    this.hostMtime = this.#expected = undefined;
  }

  /** All links in the index. */
  get links(): readonly Link[] {
    const first = this.firstLink;
    if (first === undefined) return [];
    return this.#rare?.links === undefined ? [first] : [first, ...this.#rare.links];
  }

  /** The first link; undefined: the inode is unlinked. */
  get firstLink(): Link | undefined {
    this.#findLinks();
    return this.#dir && { dir: this.#dir, name: this.#name };
  }

  /** Number of links in the index. */
  get linkCount(): number {
    this.#findLinks();
    return this.#dir === undefined ? 0 : 1 + (this.#rare?.links === undefined ? 0 : this.#rare.links.length);
  }

  /** Adds a link. */
  addLink(dir: Inode, name: ByteString): void {
    this.#findLinks();
    if (this.#dir !== undefined) {
      const rare = this.#makeRare();
      rare.links ??= [];
      rare.links.push({ dir, name });
      return;
    }
    this.#dir = dir;
    this.#name = name;
  }

  /** Removes a link. */
  removeLink(dir: Inode, name: ByteString): void {
    this.#findLinks();
    const more = this.#rare?.links ?? [];
    if (this.#dir === dir && this.#name === name) {
      const next = more.pop();
      this.#dir = next?.dir;
      this.#name = next?.name ?? NO_BYTES;
    } else removeUnordered(more, (link) => link.dir === dir && link.name === name);
  }

  #findLinks(): void {
    if (!this.#has(LINKS_SHARED)) return;
    this.#set(LINKS_SHARED, false);
    for (const { dir, name } of this.#rare!.shared!.links) this.addLink(this.owner.copy(dir), name);
  }

  /** Directory: changed entries. Other names are the base's, if the directory is merged with one. */
  get entries(): Entries<Entry> | undefined {
    if (this.#entries === undefined && this.isDirectory) this.#entries = new Entries();
    return this.#entries;
  }

  /** Makes the inode independent of the inode it was copied from, in steps. */
  *resolving(): Steps<void> {
    this.#findLinks();
    const rare = this.#rare;
    if (rare !== undefined) rare.shared = undefined;
    if (rare?.aliases === 0 && rare.links === undefined && rare.hostMtime === undefined) this.#rare = undefined;
    if (this.#entries === undefined) return;
    const counted = new Counted(AT_ONCE);
    const entries = new Entries<Entry>();
    for (const [name, entry] of this.#entries.entries()) {
      entries.set(name, entry);
      yield* counted.one();
    }
    entries.subdirs = this.#entries.subdirs;
    entries.reach = this.#entries.reach;
    this.#entries = entries;
  }

  get isDirectory(): boolean {
    return isDirectory(this.mode);
  }

  /** Number of links, including those in the base (for a directory 1, or 0 if removed). */
  get names(): number {
    return this.linkCount + this.aliases;
  }

  #has(flag: number): boolean {
    return (this.#flags & flag) !== 0;
  }

  #set(flag: number, on: boolean): void {
    this.#flags = on ? this.#flags | flag : this.#flags & ~flag;
  }

  #makeRare(): Rare {
    this.#rare ??= { aliases: 0, links: undefined, hostMtime: undefined, shared: undefined };
    return this.#rare;
  }
}

function isSymlink(mode: number): boolean {
  return (mode & S_IFMT) === S_IFLNK;
}

// Size: one class whose fields are packed; accessors keep its users from knowing how.

import { type ByteString, NO_BYTES } from '../../../byte-string.ts';
import { Counted, type Steps } from '../../../fuse/connection/steps.ts';
import { isDirectory, S_IFLNK, S_IFMT } from '../../../linux/mode.ts';
import type { Time } from '../../../linux/time.ts';
import { Entries, type Sharing } from './entries.ts';
import { removeUnordered } from './remove-unordered.ts';

/** One directory entry that names an inode. */
export interface Link {
  readonly dir: Inode;
  readonly name: ByteString;
}

/** The data file `id` of one layer of the delta. */
export interface FileRef {
  readonly layer: string;
  readonly id: number;
}

/** Where a file's contents are: in a slot of the layer's slabs or, with NO_SLOT, in the data file, if there is one. */
export interface DataRef extends FileRef {
  readonly slot: number;
}

/** A name the sandbox removed although the base has it. Only in this index: nothing in the tree can stand for one. */
export const WHITEOUT = null;

/** What a name of the index stands for. */
type Entry = Inode | typeof WHITEOUT;

/** Names that one step goes through. */
const AT_ONCE = 64;

/** The table an inode is in. */
export interface Owner extends Sharing<Entry> {
  /** It changes no more: a copy of the inode, in the table that goes on from it, is what counts. */
  frozen: boolean;
}

/** What few inodes have. */
interface Rare {
  aliases: number;
  /** Links besides the first. */
  links: Link[] | undefined;
  hostMtime: Time | undefined;
  /** Whose links these are, as long as nobody asked for them. */
  shared: Inode | undefined;
}

/** New inode numbers start here: above those host file systems give out, below 2^53. */
export const FIRST_INO = 2 ** 48;

const HAS_FILE = 1;
const VERIFIED = 2;
const SHORTENED = 4;
const LOST = 8;
const MERGES = 16;
const MERGES_UNKNOWN = 32;
/** Links are those of `Rare.shared`. */
const LINKS_SHARED = 64;

/**
 * Something the sandbox made or changed. Which fields are used follows from the type bits of `mode`. A sandbox may have
 * millions: numbers and flags are kept apart from each other as fields, and what most have not is an object of its own.
 */
export class Inode {
  readonly owner: Owner;
  /** Within this delta; the journal's name for it. Never reused. */
  readonly id: number;
  /** One of the delta's own counts down from -1: small numbers take no memory of their own. */
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
  /** How often its contents or its mode changed since this process knows it. */
  writes = 0;
  #flags = 0;
  /** Directory: origin. Symlink: target. Device: rdev. */
  #special: ByteString | number | undefined;
  #data: DataRef | undefined;
  /** A checksum as a signed number, which takes no memory of its own. */
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
   * One of the same contents, names and entries, of which `home` has its own at the first use: a copy of a large tree costs
   * what is used of it. `shared` never changes from now on.
   */
  static copyOf(shared: Inode, home: Owner): Inode {
    const { id, ino, mode, uid, gid, atime, mtime, ctime } = shared;
    const inode = new Inode(home, id, ino, mode, uid, gid, atime, mtime, ctime);
    // Whoever compares versions finds the same one.
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

  /** As stat shows it: the base's when it was copied up. */
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

  /** Names in the base that stand for it without an entry here: the rest of a hard-link group that was copied up. */
  get aliases(): number {
    return this.#rare === undefined ? 0 : this.#rare.aliases;
  }

  set aliases(count: number) {
    if (count > 0 || this.#rare !== undefined) this.#makeRare().aliases = count;
  }

  /** Directory: the base directory merged below `entries`. Stays when the directory is renamed. */
  get origin(): ByteString | undefined {
    return this.isDirectory ? (this.#special as ByteString | undefined) : undefined;
  }

  set origin(path: ByteString | undefined) {
    this.#special = path;
  }

  /**
   * Directory without an origin: merged with what the base has by its name in the directory above, once that is a
   * directory. False: opaque, since it took the place of a base directory. undefined: of an older server, not yet known.
   */
  get merges(): boolean | undefined {
    return this.#has(MERGES_UNKNOWN) ? undefined : this.#has(MERGES);
  }

  set merges(merges: boolean | undefined) {
    this.#set(MERGES_UNKNOWN, merges === undefined);
    this.#set(MERGES, merges === true);
  }

  /** Directory: how many entries are directories. */
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

  /** Device: its number, as the kernel encodes it. */
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

  /** File: its data file is there. It has one, a slot, or neither: then it is empty. Of the place in `data` only. */
  get hasFile(): boolean {
    return this.#has(HAS_FILE);
  }

  set hasFile(hasFile: boolean) {
    this.#set(HAS_FILE, hasFile);
  }

  /**
   * File: what its place is to hold. In a slot: the CRC-32 of the contents. In a data file: its size when that was last
   * recorded, or -1 when only that there was one is known. undefined: nothing is known.
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

  /** File: all that is in the slot was read or written by this process, and is as expected. */
  get verified(): boolean {
    return this.#has(VERIFIED);
  }

  set verified(verified: boolean) {
    this.#set(VERIFIED, verified);
  }

  /** File: its slot held more, of which the disk may still have the record. What follows the end there is not written over. */
  get shortened(): boolean {
    return this.#has(SHORTENED);
  }

  set shortened(shortened: boolean) {
    this.#set(SHORTENED, shortened);
  }

  /** File: its data file is missing or has another size; it can only be removed, or cut to nothing. */
  get lost(): boolean {
    return this.#has(LOST);
  }

  set lost(lost: boolean) {
    this.#set(LOST, lost);
  }

  /** File with a data file: that one's own mtime when times were last journaled; a later one wins at load. */
  get hostMtime(): Time | undefined {
    return this.#rare?.hostMtime;
  }

  set hostMtime(time: Time | undefined) {
    if (time !== undefined || this.#rare !== undefined) this.#makeRare().hostMtime = time;
  }

  /** File: where its contents are. */
  get data(): DataRef | undefined {
    return this.#data;
  }

  /** Whoever moves them to a data file says afterwards that it is there: what was known of the old place is void. */
  set data(place: DataRef | undefined) {
    this.#data = place;
    this.#flags &= ~(HAS_FILE | VERIFIED | SHORTENED | LOST);
    this.hostMtime = this.#expected = undefined;
  }

  /** Every entry of the index that names it. */
  get links(): readonly Link[] {
    const first = this.firstLink;
    if (first === undefined) return [];
    return this.#rare?.links === undefined ? [first] : [first, ...this.#rare.links];
  }

  get firstLink(): Link | undefined {
    this.#findLinks();
    return this.#dir && { dir: this.#dir, name: this.#name };
  }

  get linkCount(): number {
    this.#findLinks();
    return this.#dir === undefined ? 0 : 1 + (this.#rare?.links === undefined ? 0 : this.#rare.links.length);
  }

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

  /** Directory: changed names. A name not in it is the base's, when there is an `origin`. */
  get entries(): Entries<Entry> | undefined {
    if (this.#entries === undefined && this.isDirectory) this.#entries = new Entries();
    return this.#entries;
  }

  /** From its end on it holds nothing of what it is a copy of. */
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

  /** Names that stand for it (for a directory 1 or, removed, 0). */
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

// Size: one class whose fields are packed; accessors keep its users from knowing how.

import { type ByteString, NO_BYTES } from '../../../byte-string.ts';
import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import { isDirectory, S_IFLNK, S_IFMT, S_IFREG } from '../../../linux/mode.ts';
import type { Time } from '../../../linux/time.ts';
import { type DataRef, type FileRef, NO_SLOT, type StoredFile } from '../contents/stored-file.ts';
import { Entries, type Sharing } from './entries.ts';
import { removeUnordered } from './remove-unordered.ts';

/** A hard link: a directory entry of an inode. */
export interface Link {
  readonly dir: Inode;
  readonly name: ByteString;
}

/** A whiteout: a name that the sandbox removed although the base has it. It exists only in the index, not as a file. */
export const WHITEOUT = null;

/** An entry of a directory of the index. */
type Entry = Inode | typeof WHITEOUT;

/** Names processed in one step. */
const ITEMS_PER_STEP = 64;

/** The table that an inode belongs to. */
export interface Owner extends Sharing<Entry> {
  /** The table is immutable; the table that extends it has a copy of each inode that changes. */
  frozen: boolean;
}

/** Fields that few inodes need. */
interface Rare {
  /** Bytes of holes. */
  holes: number;
  aliases: number;
  /** Links except the first. */
  more: Link[];
}

/** First inode number of new inodes: above those of host file systems, below 2^53. */
export const FIRST_INO = 2 ** 48;

/** The bits of a mode; flags are stored in those above. */
const MODE_BITS = 0xffff;
const HAS_FILE = 1 << 16;
const VERIFIED = 1 << 17;
const SHORTENED = 1 << 18;
const LOST = 1 << 19;
const MERGES = 1 << 20;
const MERGES_UNKNOWN = 1 << 21;
const UNSYNCED = 1 << 22;
const LISTED = 1 << 26;
/** The links are those of the inode in `#dir`, until they are first used. */
const LINKS_SHARED = 1 << 23;
/** `#hostSec` and `#hostNsec` have a time. */
const HAS_HOST_TIME = 1 << 24;
/** `#expected` has a value. */
const HAS_EXPECTED = 1 << 25;
const AGENT_TEXT = 1 << 27;

/**
 * An inode of the delta: something that the sandbox created or changed. Its type (in `mode`) decides which fields are
 * used; for those of contents see `StoredFile`. A sandbox can have millions of inodes, so values of several fields are stored as small integers in the object
 * itself (those of V8 have 32 bits and need no allocation), and those of hard links and of files with holes in an object of their own.
 */
export class Inode implements StoredFile {
  readonly owner: Owner;
  /** Identifies the inode in this delta and its journal. Never reused. */
  readonly id: number;
  /** Numbers of new inodes are stored as small negative ones, which V8 stores without a heap allocation. */
  readonly #ino: number;
  /** Mode and flags. */
  #bits: number;
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
  /** Directory: origin. Symlink: target. Device: rdev. File: layer of the contents, with their id if it is another. */
  #special: ByteString | string | FileRef | number | undefined;
  /** File: slot of the contents; with HAS_HOST_TIME, when there is none, the seconds of `hostMtime`. */
  #slotOrSec = NO_SLOT;
  #hostNsec = 0;
  /** A checksum is stored as a signed number. */
  #expected = 0;
  /** The directory of the first link. */
  #dir: Inode | undefined;
  #name = NO_BYTES;
  /** Directory: entries. Others: fields that few need. */
  #entriesOrRare: Entries<Entry> | Rare | undefined;

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
    this.#bits = mode & MODE_BITS;
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
    inode.#bits = (shared.#bits & ~(VERIFIED | SHORTENED | UNSYNCED | LISTED)) | LINKS_SHARED;
    inode.#special = shared.#special;
    inode.#slotOrSec = shared.#slotOrSec;
    inode.#hostNsec = shared.#hostNsec;
    inode.#expected = shared.#expected;
    inode.#dir = shared;
    if (shared.aliases > 0) inode.aliases = shared.aliases;
    inode.holes = shared.holes;
    const entries = Inode.#entriesOf(shared);
    if (entries !== undefined) inode.#entriesOrRare = new Entries(entries, home);
    return inode;
  }

  /** st_ino; that of the base if the inode was copied up. */
  get ino(): number {
    return this.#ino < 0 ? FIRST_INO - 1 - this.#ino : this.#ino;
  }

  get mode(): number {
    return this.#bits & MODE_BITS;
  }

  set mode(mode: number) {
    this.#bits = (this.#bits & ~MODE_BITS) | (mode & MODE_BITS);
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

  get holes(): number {
    return Inode.#rareOf(this)?.holes ?? 0;
  }

  set holes(bytes: number) {
    if (bytes > 0 || Inode.#rareOf(this) !== undefined) Inode.#makeRare(this).holes = bytes;
  }

  /** File: bytes that count for quotas. */
  get stored(): number {
    return this.size - this.holes;
  }

  /** Number of base links without an entry here: the other hard links of a base file that was copied up. */
  get aliases(): number {
    return Inode.#rareOf(this)?.aliases ?? 0;
  }

  set aliases(count: number) {
    if (count > 0 || Inode.#rareOf(this) !== undefined) Inode.#makeRare(this).aliases = count;
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
    return Inode.#has(this, MERGES_UNKNOWN) ? undefined : Inode.#has(this, MERGES);
  }

  set merges(merges: boolean | undefined) {
    Inode.#set(this, MERGES_UNKNOWN, merges === undefined);
    Inode.#set(this, MERGES, merges === true);
  }

  /** Directory: number of entries that are directories. */
  get subdirs(): number {
    return Inode.#entriesOf(this)?.subdirs ?? 0;
  }

  set subdirs(count: number) {
    this.requireEntries().subdirs = count;
  }

  /** Directory: see `Entries.reach`. */
  get reach(): number {
    return Inode.#entriesOf(this)?.reach ?? 0;
  }

  set reach(bytes: number) {
    this.requireEntries().reach = bytes;
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

  get hasFile(): boolean {
    return Inode.#has(this, HAS_FILE);
  }

  set hasFile(hasFile: boolean) {
    Inode.#set(this, HAS_FILE, hasFile);
  }

  get expected(): number | undefined {
    if (!Inode.#has(this, HAS_EXPECTED)) return undefined;
    return Inode.#isInSlot(this) ? this.#expected >>> 0 : this.#expected;
  }

  set expected(expected: number | undefined) {
    Inode.#set(this, HAS_EXPECTED, expected !== undefined);
    this.#expected = Inode.#isInSlot(this) ? (expected ?? 0) | 0 : (expected ?? 0);
  }

  static #isInSlot(inode: Inode): boolean {
    return !Inode.#has(inode, HAS_HOST_TIME) && inode.#slotOrSec !== NO_SLOT;
  }

  get verified(): boolean {
    return Inode.#has(this, VERIFIED);
  }

  set verified(verified: boolean) {
    Inode.#set(this, VERIFIED, verified);
  }

  get shortened(): boolean {
    return Inode.#has(this, SHORTENED);
  }

  set shortened(shortened: boolean) {
    Inode.#set(this, SHORTENED, shortened);
  }

  get lost(): boolean {
    return Inode.#has(this, LOST);
  }

  set lost(lost: boolean) {
    Inode.#set(this, LOST, lost);
  }

  /** File with a data file: that file's mtime when times were last journaled; a later one takes precedence at load. */
  get hostMtime(): Time | undefined {
    return Inode.#has(this, HAS_HOST_TIME) ? { sec: this.#slotOrSec, nsec: this.#hostNsec } : undefined;
  }

  set hostMtime(time: Time | undefined) {
    // Contents in a slot have no data file.
    if (Inode.#isInSlot(this) || (time === undefined && !Inode.#has(this, HAS_HOST_TIME))) return;
    Inode.#set(this, HAS_HOST_TIME, time !== undefined);
    this.#slotOrSec = time?.sec ?? NO_SLOT;
    this.#hostNsec = time?.nsec ?? 0;
  }

  get unsynced(): boolean {
    return Inode.#has(this, UNSYNCED);
  }

  set unsynced(unsynced: boolean) {
    Inode.#set(this, UNSYNCED, unsynced);
  }

  get listed(): boolean {
    return Inode.#has(this, LISTED);
  }

  set listed(listed: boolean) {
    Inode.#set(this, LISTED, listed);
  }

  /**
   * File: all bytes of it come from what the agent may see, with placeholders in place of values. So it is shown as it is
   * under a redacting rule, and a commit puts the values back. Unset by a write without such a rule: the rules of other files may be stricter later.
   */
  get isAgentText(): boolean {
    return Inode.#has(this, AGENT_TEXT);
  }

  set isAgentText(is: boolean) {
    Inode.#set(this, AGENT_TEXT, is);
  }

  get data(): DataRef | undefined {
    const { layer } = this;
    if (layer === undefined) return undefined;
    const id = typeof this.#special === 'object' ? this.#special.id : this.id;
    return { layer, id, slot: Inode.#isInSlot(this) ? this.#slotOrSec : NO_SLOT };
  }

  /** `data` of a file; throws for other inodes. */
  requireData(): DataRef {
    return this.data ?? missing(this, 'contents');
  }

  /** File: layer of its contents. */
  get layer(): string | undefined {
    if ((this.#bits & S_IFMT) !== S_IFREG || typeof this.#special === 'number') return undefined;
    return typeof this.#special === 'object' ? this.#special.layer : this.#special;
  }

  /**
   * Sets the location and forgets what was known of the old one; a caller that moves contents to a data file sets
   * `hasFile` afterwards.
   */
  set data(place: DataRef | undefined) {
    this.#bits &= ~(HAS_FILE | VERIFIED | SHORTENED | LOST | HAS_HOST_TIME | HAS_EXPECTED);
    this.#special = place === undefined || place.id === this.id ? place?.layer : { layer: place.layer, id: place.id };
    this.#slotOrSec = place?.slot ?? NO_SLOT;
  }

  /** All links in the index. */
  get links(): readonly Link[] {
    const first = this.firstLink;
    if (first === undefined) return [];
    return [first, ...(Inode.#rareOf(this)?.more ?? [])];
  }

  /** The first link; undefined: the inode is unlinked. */
  get firstLink(): Link | undefined {
    Inode.#findLinks(this);
    return this.#dir && { dir: this.#dir, name: this.#name };
  }

  /** Number of links in the index. */
  get linkCount(): number {
    Inode.#findLinks(this);
    return this.#dir === undefined ? 0 : 1 + (Inode.#rareOf(this)?.more.length ?? 0);
  }

  /** Adds a link. */
  addLink(dir: Inode, name: ByteString): void {
    Inode.#findLinks(this);
    if (this.#dir !== undefined) {
      Inode.#makeRare(this).more.push({ dir, name });
      return;
    }
    this.#dir = dir;
    this.#name = name;
  }

  /** Removes a link. */
  removeLink(dir: Inode, name: ByteString): void {
    Inode.#findLinks(this);
    const more = Inode.#rareOf(this)?.more ?? [];
    if (this.#dir === dir && this.#name === name) {
      const next = more.pop();
      this.#dir = next?.dir;
      this.#name = next?.name ?? NO_BYTES;
    } else removeUnordered(more, (link) => link.dir === dir && link.name === name);
  }

  static #findLinks(inode: Inode): void {
    if (!Inode.#has(inode, LINKS_SHARED)) return;
    const shared = inode.#dir;
    Inode.#set(inode, LINKS_SHARED, false);
    inode.#dir = undefined;
    for (const { dir, name } of shared?.links ?? []) inode.addLink(inode.owner.copy(dir), name);
  }

  /** Directory: changed entries. Other names are the base's, if the directory is merged with one. */
  get entries(): Entries<Entry> | undefined {
    if (this.#entriesOrRare === undefined && this.isDirectory) this.#entriesOrRare = new Entries();
    return Inode.#entriesOf(this);
  }

  /** `entries` of a directory; throws for other inodes. */
  requireEntries(): Entries<Entry> {
    return this.entries ?? missing(this, 'entries');
  }

  /** Makes the inode independent of the inode it was copied from, in steps. */
  *resolving(): Steps<void> {
    Inode.#findLinks(this);
    const shared = Inode.#entriesOf(this);
    if (shared === undefined) return;
    const counter = new StepCounter(ITEMS_PER_STEP);
    const entries = new Entries<Entry>();
    for (const [name, entry] of shared.entries()) {
      entries.set(name, entry);
      if (counter.count()) yield;
    }
    entries.subdirs = shared.subdirs;
    entries.reach = shared.reach;
    this.#entriesOrRare = entries;
  }

  get isDirectory(): boolean {
    return isDirectory(this.mode);
  }

  /** Number of links, including those in the base (for a directory 1, or 0 if removed). */
  get names(): number {
    return this.linkCount + this.aliases;
  }

  // Static, since a private method costs each object a field.
  static #has(inode: Inode, flag: number): boolean {
    return (inode.#bits & flag) !== 0;
  }

  static #set(inode: Inode, flag: number, on: boolean): void {
    inode.#bits = on ? inode.#bits | flag : inode.#bits & ~flag;
  }

  static #entriesOf(inode: Inode): Entries<Entry> | undefined {
    return inode.#entriesOrRare instanceof Entries ? inode.#entriesOrRare : undefined;
  }

  static #rareOf(inode: Inode): Rare | undefined {
    return inode.#entriesOrRare instanceof Entries ? undefined : inode.#entriesOrRare;
  }

  static #makeRare(inode: Inode): Rare {
    const rare = Inode.#rareOf(inode) ?? { holes: 0, aliases: 0, more: [] };
    inode.#entriesOrRare = rare;
    return rare;
  }
}

function isSymlink(mode: number): boolean {
  return (mode & S_IFMT) === S_IFLNK;
}

function missing({ id }: Inode, what: string): never {
  throw new Error(`inode ${id} has no ${what}`);
}

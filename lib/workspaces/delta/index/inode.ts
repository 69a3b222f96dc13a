import type { ByteString } from '../../../byte-string.ts';
import { isDirectory } from '../../../linux/mode.ts';
import type { Time } from '../../../linux/time.ts';

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

/** The table an inode is in. */
export interface Home {
  /** It changes no more: a copy of the inode, in the table that goes on from it, is what counts. */
  frozen: boolean;
}

export type Entries = Map<ByteString, Inode | typeof WHITEOUT>;

/** Something the sandbox made or changed. Which fields are used follows from the type bits of `mode`. */
export class Inode {
  readonly home: Home;
  /** Within this delta; the journal's name for it. Never reused. */
  readonly id: number;
  /** As stat shows it: the base's when it was copied up. */
  readonly ino: number;
  mode: number;
  uid: number;
  gid: number;
  atime: Time;
  mtime: Time;
  ctime: Time;
  /** Names in the base that stand for it without an entry here: the rest of a hard-link group that was copied up. */
  aliases = 0;

  /** Directory: the base directory merged below `entries`. Stays when the directory is renamed. */
  origin: ByteString | undefined;
  /**
   * Directory without an origin: merged with what the base has by its name in the directory above, once that is a
   * directory. False: opaque, since it took the place of a base directory. undefined: of an older server, not yet known.
   */
  merges: boolean | undefined = false;
  /** Directory: how many entries are directories. */
  subdirs = 0;
  /** Directory: bytes of the longest path of entries below it, at most: names that were taken away may still count. */
  reach = 0;

  /** Device: its number, as the kernel encodes it. */
  rdev = 0;

  /** Symlink: its target. */
  target: ByteString | undefined;

  /** File: its data file is there. It has one, a slot, or neither: then it is empty. Of the place in `data` only. */
  hasFile = false;
  size = 0;
  /**
   * File: what its place is to hold. In a slot: the CRC-32 of the contents. In a data file: its size when that was last
   * recorded, or -1 when only that there was one is known. undefined: nothing is known.
   */
  expected: number | undefined;
  /** File: all that is in the slot was read or written by this process, and is as expected. */
  verified = false;
  /** File: its slot held more, of which the disk may still have the record. What follows the end there is not written over. */
  shortened = false;
  /** File: its data file is missing or has another size; it can only be removed, or cut to nothing. */
  lost = false;
  /** How often its contents or its mode changed since this process knows it. */
  writes = 0;
  /** File with a data file: that one's own mtime when times were last journaled; a later one wins at load. */
  hostMtime: Time | undefined;

  #data: DataRef | undefined;
  #links: Link[] | undefined;
  #entries: Entries | undefined;
  /** Whose links and entries these are, as long as nobody asked for them. */
  #shared: Inode | undefined;
  #ownerOf: ((shared: Inode) => Inode) | undefined;

  constructor(
    home: Home,
    id: number,
    ino: number,
    mode: number,
    uid: number,
    gid: number,
    atime: Time,
    mtime: Time,
    ctime: Time,
  ) {
    this.home = home;
    this.id = id;
    this.ino = ino;
    this.mode = mode;
    this.uid = uid;
    this.gid = gid;
    this.atime = atime;
    this.mtime = mtime;
    this.ctime = ctime;
  }

  /**
   * One of the same contents, names and entries, which `of` gives for what they name: at the first use, so that a copy of
   * a large tree costs what is used of it. `shared` never changes from now on.
   */
  static copyOf(shared: Inode, home: Home, of: (shared: Inode) => Inode): Inode {
    const { id, ino, mode, uid, gid, atime, mtime, ctime } = shared;
    const inode = new Inode(home, id, ino, mode, uid, gid, atime, mtime, ctime);
    inode.aliases = shared.aliases;
    // Whoever compares versions finds the same one.
    inode.writes = shared.writes;
    inode.origin = shared.origin;
    inode.merges = shared.merges;
    inode.subdirs = shared.subdirs;
    inode.reach = shared.reach;
    inode.rdev = shared.rdev;
    inode.target = shared.target;
    inode.#data = shared.#data;
    inode.hasFile = shared.hasFile;
    inode.size = shared.size;
    inode.expected = shared.expected;
    inode.lost = shared.lost;
    inode.hostMtime = shared.hostMtime;
    inode.#shared = shared;
    inode.#ownerOf = of;
    return inode;
  }

  /** File: where its contents are. */
  get data(): DataRef | undefined {
    return this.#data;
  }

  /** Whoever moves them to a data file says afterwards that it is there: what was known of the old place is void. */
  set data(place: DataRef | undefined) {
    this.#data = place;
    this.hasFile = this.verified = this.lost = this.shortened = false;
    this.hostMtime = this.expected = undefined;
  }

  /** Every entry of the index that names it. */
  get links(): Link[] {
    this.#links ??= (this.#shared?.links ?? []).map(({ dir, name }) => ({ dir: this.#ownerOf!(dir), name }));
    return this.#links;
  }

  addLink(link: Link): void {
    // Most have one: an array that grew would have room for more.
    if (this.#links === undefined && this.#shared === undefined) this.#links = [link];
    else this.links.push(link);
  }

  /** Directory: changed names. A name not in it is the base's, when there is an `origin`. */
  get entries(): Entries | undefined {
    if (this.#entries !== undefined || !this.isDirectory) return this.#entries;
    this.#entries = new Map();
    for (const [name, entry] of this.#shared?.entries ?? []) {
      this.#entries.set(name, entry === WHITEOUT ? WHITEOUT : this.#ownerOf!(entry));
    }
    return this.#entries;
  }

  /** Holds nothing of what it is a copy of. */
  resolve(): void {
    void this.links;
    void this.entries;
    this.#shared = undefined;
    this.#ownerOf = undefined;
  }

  get isDirectory(): boolean {
    return isDirectory(this.mode);
  }

  /** Names that stand for it (for a directory 1 or, removed, 0). */
  get names(): number {
    return this.links.length + this.aliases;
  }
}

import type { ByteString, Time } from '../../filesystem.ts';
import { isDirectory } from '../mode.ts';

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

/** Something the sandbox made or changed. Which fields are used follows from the type bits of `mode`. */
export class Inode {
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
  /** Every entry of the index that names it. */
  readonly links: Link[] = [];
  /** Names in the base that stand for it without an entry here: the rest of a hard-link group that was copied up. */
  aliases = 0;

  /** Directory: changed names. A name not in it is the base's, when there is an `origin`. */
  entries: Map<ByteString, Inode | typeof WHITEOUT> | undefined;
  /** Directory: the base directory merged below `entries`; undefined: opaque. Stays when the directory is renamed. */
  origin: ByteString | undefined;
  /** Directory: how many entries are directories. */
  subdirs = 0;

  /** Device: its number, as the kernel encodes it. */
  rdev = 0;

  /** Symlink: its target. */
  target: ByteString | undefined;

  /** File. */
  data: DataRef | undefined;
  /** File: its data file is there. It has one, a slot, or neither: then it is empty. */
  hasFile = false;
  size = 0;
  /** How often its contents or its mode changed since this process knows it. */
  writes = 0;
  /** File with a data file: that one's own mtime when times were last journaled; a later one wins at load. */
  hostMtime: Time | undefined;

  constructor(id: number, ino: number, mode: number, uid: number, gid: number, atime: Time, mtime: Time, ctime: Time) {
    this.id = id;
    this.ino = ino;
    this.mode = mode;
    this.uid = uid;
    this.gid = gid;
    this.atime = atime;
    this.mtime = mtime;
    this.ctime = ctime;
    if (isDirectory(mode)) this.entries = new Map();
  }

  get isDirectory(): boolean {
    return this.entries !== undefined;
  }

  /** Names that stand for it (for a directory 1 or, removed, 0). */
  get names(): number {
    return this.links.length + this.aliases;
  }
}

import type { ByteString } from '../byte-string.ts';
import type { Time } from '../linux/time.ts';

/**
 * What the session (bytes from /dev/fuse) asks of a file system. Names follow the kernel's (include/uapi/linux/fuse.h).
 * All calls are synchronous and made one at a time by the worker. A refusal is a thrown `Errno`; any other exception is
 * answered as EIO and does not end the worker.
 */

/** Thrown to have a request run again, whole, when what it waits for is over; others are served meanwhile. */
export class Postponed {
  /** What it waits for. */
  readonly cause: number;
  constructor(cause: number) {
    this.cause = cause;
  }
}

export interface Caller {
  /** Ids as the host knows them. */
  uid: number;
  gid: number;
  pid: number;
}

export interface Attr {
  ino: number;
  size: number;
  /** 512-byte units. */
  blocks: number;
  atime: Time;
  mtime: Time;
  ctime: Time;
  /** With the file type bits. */
  mode: number;
  nlink: number;
  uid: number;
  gid: number;
  rdev: number;
}

/** An answer that lets the kernel know a node: adds one to its lookup count, which FORGET takes back. */
export interface Entry {
  nodeid: number;
  attr: Attr;
}

/** Only what is present is changed; 'now' is the file system's clock. */
export interface SetAttr {
  mode?: number;
  uid?: number;
  gid?: number;
  size?: number;
  atime?: Time | 'now';
  mtime?: Time | 'now';
  /** HANDLE_KILLPRIV_V2: clear the set-id bits with this change. */
  killSuidgid?: boolean;
}

export interface StatFs {
  blocks: number;
  bfree: number;
  bavail: number;
  files: number;
  ffree: number;
  bsize: number;
  namelen: number;
}

/** One entry of a listing. Returns false when the reply is full: the entry was not taken and is asked for again. */
export type EmitDirent = (
  name: ByteString,
  cookie: number,
  ino: number,
  type: number,
  entry: Entry | undefined,
) => boolean;

export interface FileSystem {
  /** undefined: there is no such name (the kernel may cache that). */
  lookup(caller: Caller, parent: number, name: ByteString): Entry | undefined;
  forget(nodeid: number, nlookup: number): void;
  getattr(caller: Caller, nodeid: number): Attr;
  setattr(caller: Caller, nodeid: number, changes: SetAttr): Attr;
  readlink(caller: Caller, nodeid: number): Buffer;
  /** mode already has the umask taken off by the kernel (DONT_MASK is not negotiated). */
  create(caller: Caller, parent: number, name: ByteString, mode: number, flags: number): Entry;
  mknod(caller: Caller, parent: number, name: ByteString, mode: number, rdev: number): Entry;
  mkdir(caller: Caller, parent: number, name: ByteString, mode: number): Entry;
  symlink(caller: Caller, parent: number, name: ByteString, target: Buffer): Entry;
  link(caller: Caller, nodeid: number, newparent: number, newname: ByteString): Entry;
  unlink(caller: Caller, parent: number, name: ByteString): void;
  rmdir(caller: Caller, parent: number, name: ByteString): void;
  /** flags as renameat2(2). */
  rename(caller: Caller, parent: number, name: ByteString, newparent: number, newname: ByteString, flags: number): void;
  /** Fills `into` from `offset`; returns the bytes read, fewer only at the end of the file. */
  read(caller: Caller, nodeid: number, offset: number, into: Buffer): number;
  /** `data` is only valid during the call. Returns the bytes written. */
  write(caller: Caller, nodeid: number, offset: number, data: Buffer, killSuidgid: boolean): number;
  fsync(caller: Caller, nodeid: number, datasync: boolean): void;
  statfs(caller: Caller, nodeid: number): StatFs;
  /**
   * Calls `emit` for each entry after `cookie` (0: from the start) in a stable order, "." and ".." first. Cookies stay
   * good while entries come and go. With `plus`, `entry` is given (and counts as a lookup when taken) except for the
   * two dots. type is S_IFMT >> 12.
   */
  readdir(caller: Caller, nodeid: number, cookie: number, plus: boolean, emit: EmitDirent): void;
}

/** What changed behind the kernel's back. Queued here, written to the device by the notifier thread, in order. */
export interface Notifier {
  /** Attributes and cached pages (for a directory: its cached listing) of a node. */
  invalInode(nodeid: number): void;
  /** The cached answer, positive or negative, for a name. */
  invalEntry(parent: number, name: ByteString): void;
  /**
   * A name is gone: the kernel drops it and all that it knows below it, and forgets the nodes that nobody has open. After
   * `invalEntry` alone it keeps, and counts as known, a file that nobody asks for again.
   */
  dropEntry(parent: number, name: ByteString): void;
  /**
   * Attributes only, and at once. Only for a node of which the kernel never had contents: the call waits for an inode that
   * is being evicted, which in turn waits for the contents that are under way, which only this thread can bring.
   */
  invalAttributesNow(nodeid: number): void;
}

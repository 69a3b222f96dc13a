import type { ByteString } from '../byte-string.ts';
import type { Time } from '../linux/time.ts';

/**
 * The interface between a FUSE session (`session/`) and a file system. Operations have the names of their opcodes in
 * include/uapi/linux/fuse.h. The request worker makes all calls, one at a time; every call is synchronous. A file
 * system refuses a request by throwing an `Errno`. Any other exception is sent to the kernel as EIO and does not end
 * the worker.
 */

/**
 * Thrown by an operation that cannot complete yet. The whole request is run again after `release(cause)`; other
 * requests are served in the meantime. An operation that throws it must not have changed anything.
 */
export class Postponed {
  /** Identifies the event that the request waits for; chosen by the file system. */
  readonly cause: number;
  constructor(cause: number) {
    this.cause = cause;
  }
}

/**
 * Thrown by an operation that is complete later, at `answer(cause, error)`; other requests are served in the meantime.
 * Only for an operation that returns nothing: its reply has no body.
 */
export class AnsweredLater {
  /** Identifies the event that the reply waits for; chosen by the file system. */
  readonly cause: number;
  constructor(cause: number) {
    this.cause = cause;
  }
}

/** The process that made a request (fuse_in_header). */
export interface Caller {
  /** In the user and PID namespaces of the mount. */
  uid: number;
  gid: number;
  pid: number;
}

/** Attributes of an inode (struct fuse_attr). */
export interface Attr {
  ino: number;
  size: number;
  /** Allocated size in units of 512 bytes. */
  blocks: number;
  atime: Time;
  mtime: Time;
  ctime: Time;
  /** Includes the file type bits (S_IFMT). */
  mode: number;
  nlink: number;
  uid: number;
  gid: number;
  rdev: number;
}

/** A reply that makes the kernel hold a node. Each one adds 1 to the node's lookup count; FORGET subtracts from it. */
export interface Entry {
  nodeid: number;
  attr: Attr;
  /** How long the kernel may cache the name, in seconds; only of `lookup`. Absent: until a notification. */
  seconds?: number;
}

/** The attributes that SETATTR changes; absent ones stay as they are. 'now' is the time of the file system's clock. */
export interface SetAttr {
  mode?: number;
  uid?: number;
  gid?: number;
  size?: number;
  atime?: Time | 'now';
  mtime?: Time | 'now';
  /** FATTR_KILL_SUIDGID (HANDLE_KILLPRIV_V2): this change also clears the set-uid and set-gid bits. */
  killSuidgid?: boolean;
}

/** The reply to STATFS (struct fuse_kstatfs); blocks are of `bsize` bytes. */
export interface StatFs {
  blocks: number;
  bfree: number;
  bavail: number;
  files: number;
  ffree: number;
  bsize: number;
  namelen: number;
}

/**
 * Adds one entry to a READDIR reply. Returns false when the reply is full: the entry was not added, and the next
 * READDIR asks for it again.
 */
export type EmitDirent = (
  name: ByteString,
  cookie: number,
  ino: number,
  type: number,
  entry: Entry | undefined,
) => boolean;

/** The operations of a file system; see the top of this file for threads and errors. Node ids are below `2 ** 52`. */
export interface FileSystem {
  /** What serves the requests of this caller, in nodes that it knows, if that is another file system. */
  serving?(caller: Caller): FileSystem | undefined;
  /** Returns undefined if the name does not exist; the kernel caches that answer, too. */
  lookup(caller: Caller, parent: number, name: ByteString): Entry | undefined;
  /**
   * Identifies what a node belongs to: while many requests wait, those of each get the same time. Of the root and of unknown nodes
   * undefined.
   */
  flowOf?(nodeid: number): unknown;
  /** Subtracts `nlookup` from the node's lookup count; at 0 the kernel no longer uses the node id. */
  forget(nodeid: number, nlookup: number): void;
  getattr(caller: Caller, nodeid: number): Attr;
  setattr(caller: Caller, nodeid: number, changes: SetAttr): Attr;
  /** Returns the target as stored. */
  readlink(caller: Caller, nodeid: number): Buffer;
  /**
   * The kernel has already applied the umask to `mode` (FUSE_DONT_MASK is not negotiated); the same holds for `mknod`
   * and `mkdir`. `flags` are those of open(2).
   */
  create(caller: Caller, parent: number, name: ByteString, mode: number, flags: number): Entry;
  mknod(caller: Caller, parent: number, name: ByteString, mode: number, rdev: number): Entry;
  mkdir(caller: Caller, parent: number, name: ByteString, mode: number): Entry;
  symlink(caller: Caller, parent: number, name: ByteString, target: Buffer): Entry;
  link(caller: Caller, nodeid: number, newparent: number, newname: ByteString): Entry;
  unlink(caller: Caller, parent: number, name: ByteString): void;
  rmdir(caller: Caller, parent: number, name: ByteString): void;
  /** `flags` are those of renameat2(2). May throw `AnsweredLater`. */
  rename(caller: Caller, parent: number, name: ByteString, newparent: number, newname: ByteString, flags: number): void;
  /**
   * Reads up to `into.length` bytes at byte `offset`. Returns the number of bytes read, which is smaller only at the
   * end of the file.
   */
  read(caller: Caller, nodeid: number, offset: number, into: Buffer): number;
  /**
   * Writes `data`, which is valid only during the call, at byte `offset`. Returns the number of bytes written.
   * `killSuidgid`: the write also clears the set-uid and set-gid bits.
   */
  write(caller: Caller, nodeid: number, offset: number, data: Buffer, killSuidgid: boolean): number;
  /**
   * Makes the contents durable, and unless `datasync` is set the attributes, too; of a directory its entries. May throw
   * `AnsweredLater`.
   */
  fsync(caller: Caller, nodeid: number, datasync: boolean): void;
  statfs(caller: Caller, nodeid: number): StatFs;
  /**
   * Calls `emit` for each entry after `cookie` (0: from the start) in a stable order, beginning with "." and "..". A
   * cookie stays valid while entries are added and removed. With `plus` (READDIRPLUS), `entry` is set except for the
   * two dot entries, and each emitted entry counts as a lookup. `type` is `(st_mode & S_IFMT) >> 12`.
   */
  readdir(caller: Caller, nodeid: number, cookie: number, plus: boolean, emit: EmitDirent): void;
}

/**
 * Invalidates what the kernel caches of nodes and names. Unless noted otherwise, notifications are queued in order and
 * written to the device by the notifier thread after the change is in effect.
 */
export interface Notifier {
  /**
   * Invalidates the attributes and cached pages of a node; for a directory, its cached listing
   * (FUSE_NOTIFY_INVAL_INODE).
   */
  invalInode(nodeid: number): void;
  /**
   * Invalidates the dentry of a name, positive or negative: the kernel looks the name up again (FUSE_NOTIFY_INVAL_ENTRY
   * with FUSE_EXPIRE_ONLY).
   */
  invalEntry(parent: number, name: ByteString): void;
  /**
   * Drops the dentry of a removed name with all dentries below it, so that the kernel forgets every node that is not
   * open (FUSE_NOTIFY_INVAL_ENTRY without FUSE_EXPIRE_ONLY). After `invalEntry` alone the kernel would hold the removed
   * file, with its lookup count, until the name is used again.
   */
  dropEntry(parent: number, name: ByteString): void;
  /**
   * Invalidates only the attributes of a node, synchronously. Only for a node whose contents the kernel has never
   * cached: the call waits for an inode that is being evicted, eviction waits for READs in flight, and only the calling
   * thread can serve them.
   */
  invalAttributesNow(nodeid: number): void;
}

import { type ByteString, NO_BYTES } from '../../../byte-string.ts';
import { S_IFDIR, S_IFLNK, S_IFMT, S_IFREG } from '../../../linux/mode.ts';
import type { Time } from '../../../linux/time.ts';
import { NO_SLOT } from '../contents/stored-file.ts';
import type { Identity } from './identity-rows.ts';
import type { Inode } from './inode.ts';

/** Times of an inode: atime, mtime, ctime, each in seconds and nanoseconds. */
export type Times = [aSec: number, aNsec: number, mSec: number, mNsec: number, cSec: number, cNsec: number];

/**
 * A file's contents: their location and size in bytes, the data file's mtime, and the CRC-32 of contents in a slot. Of a new
 * data file instead the bytes of its holes; a load takes them from the file.
 */
export type FileBody = [
  layer: string,
  data: number,
  slot: number,
  size: number,
  sec: number,
  nsec: number,
  sumOrHoles?: number,
];

/**
 * Kinds of directories without an origin: MERGES is merged with a base directory of its path, also a later one; OPAQUE
 * hides it.
 */
export const MERGES = 1;
export const OPAQUE = 0;

/**
 * Directory: origin, MERGES, OPAQUE, or null from an older server, which did not distinguish them. Symlink: target.
 * Other nodes except files: rdev.
 */
export type Body = ByteString | null | number | FileBody;

/**
 * One operation on the index. A journal line is an array of operations that is applied completely or not at all.
 * Replaying a journal applies the operations in their original order.
 */
export type Op =
  | ['new', id: number, ino: number, mode: number, uid: number, gid: number, times: Times, body: Body]
  /** Links an inode; replaces an existing link of the name. */
  | ['link', dir: number, name: ByteString, id: number]
  /** Removes a name and adds a whiteout for the base's. */
  | ['hide', dir: number, name: ByteString]
  /** Removes a name that the base does not have. */
  | ['drop', dir: number, name: ByteString]
  /** `host…`: mtime and size of the data file, if there is one. */
  | [
      'attr',
      id: number,
      mode: number,
      uid: number,
      gid: number,
      times: Times,
      hostSec: number,
      hostNsec: number,
      hostSize?: number,
    ]
  /** A file's contents were changed: their location and size. `sum`: CRC-32 of contents in a slot. */
  | [
      'data',
      id: number,
      layer: string,
      data: number,
      slot: number,
      size: number,
      sec: number,
      nsec: number,
      sum?: number,
    ]
  /** Unchanged contents were moved to another location. */
  | ['place', id: number, layer: string, data: number, slot: number]
  /** Sets mtime and ctime of a directory. */
  | ['touch', id: number, sec: number, nsec: number]
  | ['ctime', id: number, sec: number, nsec: number]
  /** Number of base links that still refer to the inode, and the base file that they link to. */
  | ['alias', id: number, dev: number, ino: number, left: number]
  /** Records the base version of a path when the sandbox first changed it. */
  | ['seen', path: ByteString, ...identity: Identity]
  | ['unseen', path: ByteString]
  /** See `Inode.isAgentText`. `keys`: of the placeholders that it may have, in hexadecimal. */
  | ['text', id: number, ...keys: string[]]
  | ['untext', id: number]
  /** Sets a directory's origin, or removes it (MERGES or OPAQUE; null: OPAQUE). */
  | ['origin', id: number, path: ByteString | typeof MERGES | typeof OPAQUE | null]
  /** The sandbox was rebased after this stage of a commit. */
  | ['rebased', commit: string, stage: number];

/** The operation of a name. */
export type OpNamed<Name extends Op[0]> = Extract<Op, [Name, ...unknown[]]>;

/** Encodes the times of an inode. */
export function timesOf(of: { atime: Time; mtime: Time; ctime: Time }): Times {
  return [of.atime.sec, of.atime.nsec, of.mtime.sec, of.mtime.nsec, of.ctime.sec, of.ctime.nsec];
}

/** Encodes the part of an inode that depends on its type. */
export function bodyOf(inode: Inode): Body {
  switch (inode.mode & S_IFMT) {
    case S_IFDIR:
      return inode.origin ?? (inode.merges ? MERGES : OPAQUE);
    case S_IFLNK:
      return inode.target ?? NO_BYTES;
    case S_IFREG: {
      const { layer, id, slot } = inode.requireData();
      const { sec, nsec } = inode.hostMtime ?? { sec: 0, nsec: 0 };
      const sum = slot === NO_SLOT ? undefined : inode.expected;
      const body: FileBody = [layer, id, slot, inode.size, sec, nsec];
      if (sum !== undefined) body[6] = sum;
      return body;
    }
    default:
      return inode.rdev;
  }
}

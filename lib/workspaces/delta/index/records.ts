import { type ByteString, NO_BYTES } from '../../../byte-string.ts';
import { S_IFDIR, S_IFLNK, S_IFMT, S_IFREG } from '../../../linux/mode.ts';
import type { Time } from '../../../linux/time.ts';
import { Damage } from '../damage.ts';
import type { Identity } from './identity-rows.ts';
import type { Inode } from './inode.ts';

/** First field of the first line of a journal. */
export const FORMAT = 'paddock-delta';
export const VERSION = 4;
/** Without checksums and generations; read, and converted. */
const UNSEALED_VERSION = 3;

export type Times = [aSec: number, aNsec: number, mSec: number, mNsec: number, cSec: number, cNsec: number];

/** Of a file: where its contents are, their size, the data file's mtime, and the CRC-32 of what is in a slot. */
export type FileBody = [
  layer: string,
  data: number,
  slot: number,
  size: number,
  sec: number,
  nsec: number,
  sum?: number,
];

/** A directory that is merged with what the base comes to have by its name, and one that hides it. */
export const MERGES = 1;
export const OPAQUE = 0;

/** Directory: origin, MERGES, OPAQUE, or null of an older server, which knew no difference. Symlink: target. Others but files: rdev. */
export type Body = ByteString | null | number | FileBody;

/**
 * One change of the index. A line of the journal is an array of these, applied whole or not at all.
 * Replaying a journal applies the same operations in the same order as they were made.
 */
export type Op =
  | ['new', id: number, ino: number, mode: number, uid: number, gid: number, times: Times, body: Body]
  /** Names an inode; whatever had the name loses it. */
  | ['link', dir: number, name: ByteString, id: number]
  /** Takes the name away and hides the base's. */
  | ['hide', dir: number, name: ByteString]
  /** Takes the name away; there is none in the base. */
  | ['drop', dir: number, name: ByteString]
  /** `host…`: of the data file, if there is one. */
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
  /** A file's contents lie there and are so large from now on, and changed just then. `sum`: CRC-32 of what is in a slot. */
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
  /** They lie there from now on, as they are. */
  | ['place', id: number, layer: string, data: number, slot: number]
  /** mtime and ctime of a directory. */
  | ['touch', id: number, sec: number, nsec: number]
  | ['ctime', id: number, sec: number, nsec: number]
  /** Base names left that stand for the inode, and the base file they are links of. */
  | ['alias', id: number, dev: number, ino: number, left: number]
  /** What the base had at a path when the sandbox first took it up. */
  | ['seen', path: ByteString, ...identity: Identity]
  | ['unseen', path: ByteString]
  /** A directory is merged with another one of the base from now on, or is as one that was made. null: OPAQUE. */
  | ['origin', id: number, path: ByteString | typeof MERGES | typeof OPAQUE | null]
  /** The sandbox was rebased after this stage of a commit. */
  | ['rebased', commit: string, stage: number];

export type OpNamed<Name extends Op[0]> = Extract<Op, [Name, ...unknown[]]>;

/**
 * The first line of every journal: the layer that is written to, all others that are needed, the frozen one whose index
 * this journal goes on from ('': none), and how many journals this delta had before.
 */
export type Header = [
  typeof FORMAT,
  version: number,
  nextId: number,
  nextIno: number,
  top: string,
  layers: readonly string[],
  continues: string,
  generation: number,
];

/** Throws Damage on what is no journal of this version or the one before. */
export function headerOf(records: readonly unknown[]): Header {
  const [format, version, nextId, nextIno, top, layers, continues, generation = 0] = records[0] as Header;
  if (format !== FORMAT || (version !== VERSION && version !== UNSEALED_VERSION)) {
    throw new Damage(`it is not a delta of version ${UNSEALED_VERSION} or ${VERSION}`);
  }
  return [format, version, nextId, nextIno, top, layers, continues, generation];
}

export function timesOf(of: { atime: Time; mtime: Time; ctime: Time }): Times {
  return [of.atime.sec, of.atime.nsec, of.mtime.sec, of.mtime.nsec, of.ctime.sec, of.ctime.nsec];
}

export function bodyOf(inode: Inode): Body {
  switch (inode.mode & S_IFMT) {
    case S_IFDIR:
      return inode.origin ?? (inode.merges ? MERGES : OPAQUE);
    case S_IFLNK:
      return inode.target ?? NO_BYTES;
    case S_IFREG: {
      const { layer, id, slot } = inode.data!;
      const { sec, nsec } = inode.hostMtime ?? { sec: 0, nsec: 0 };
      const sum = slot >= 0 ? inode.expected : undefined;
      const body: FileBody = [layer, id, slot, inode.size, sec, nsec];
      if (sum !== undefined) body[6] = sum;
      return body;
    }
    default:
      return inode.rdev;
  }
}

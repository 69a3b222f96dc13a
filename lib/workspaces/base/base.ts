import { fstatSync, readSync } from 'node:fs';
import { type ByteString, fromLatin1 } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import type { HostFile } from '../../host-tree/host-file.ts';
import type { HostTree } from '../../host-tree/host-tree.ts';
import { closeQuietly } from '../../linux/close.ts';
import { ESTALE, hostErrno } from '../../linux/errno.ts';
import { S_IFBLK, S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFMT, S_IFREG, S_IFSOCK } from '../../linux/mode.ts';
import { holesIn } from '../../linux/sparse-files.ts';
import { type Time, timeOf } from '../../linux/time.ts';
import { WithheldPaths } from './withheld-paths.ts';

/** Attributes of a base file, as lstat(2). */
export interface BaseStat {
  dev: number;
  ino: number;
  mode: number;
  nlink: number;
  uid: number;
  gid: number;
  rdev: number;
  size: number;
  /** Of a file: bytes of its size that are not stored. */
  holes: number;
  atime: Time;
  mtime: Time;
  ctime: Time;
}

/** One entry of a base directory. */
export interface BaseName {
  name: ByteString;
  /** S_IFMT bits. */
  type: number;
}

/** Largest file that `compareIn` reads. */
export const MAX_COMPARED = 64 * 1024;
const COMPARED = Buffer.allocUnsafeSlow(MAX_COMPARED);

/** Names read in one step. */
const ITEMS_PER_STEP = 64;

/**
 * The files of a codebase, read-only (the lower layer of the workspace). Paths are relative to its root; '' is the
 * root. Symlinks are never followed. All methods throw host errors as `Errno`.
 */
export class Base {
  /** Not shown: `lstat`, `lstatIn` and listings have nothing at these paths. */
  readonly withheld = new WithheldPaths();
  /**
   * Of a change in progress, for programs that watch: types of what is at changing paths that the kernel does not know; undefined:
   * it is the workspace's own commit, which its programs do not see.
   */
  changingTypes: Map<ByteString, number> | undefined = new Map();
  readonly #root: string;
  readonly #tree: HostTree;

  constructor(root: string, tree: HostTree) {
    this.#root = root;
    this.#tree = tree;
  }

  /** Returns the attributes at a path, or undefined if nothing is there. */
  lstat(path: ByteString): BaseStat | undefined {
    if (this.withheld.has(path)) return undefined;
    const stat = hosted(() => this.#tree.lstat(path));
    return stat === undefined ? undefined : fromHost(stat);
  }

  /** As `lstat`, of a name in a directory. */
  lstatIn(directory: ByteString, name: ByteString): BaseStat | undefined {
    if (this.withheld.hasIn(directory, name)) return undefined;
    const stat = hosted(() => this.#tree.lstatIn(directory, name));
    return stat === undefined ? undefined : fromHost(stat);
  }

  /**
   * As `lstatIn`, of a file that is expected to have as many bytes, by one lookup: whether it has the same ones. undefined: it
   * is something else, or cannot be read; `lstatIn` tells.
   */
  compareIn(directory: ByteString, name: ByteString, bytes: Buffer): { stat: BaseStat; same: boolean } | undefined {
    if (this.withheld.hasIn(directory, name)) return undefined;
    let fd: number | undefined;
    try {
      fd = this.#tree.openFileIn(directory, name);
      const stat = fd === undefined ? undefined : fromHost(fstatSync(fd, { bigint: true }));
      if (stat === undefined || (stat.mode & S_IFMT) !== S_IFREG || stat.size !== bytes.length) return undefined;
      const read = readSync(fd!, COMPARED, 0, bytes.length, 0);
      return { stat, same: read === bytes.length && bytes.compare(COMPARED, 0, read) === 0 };
    } catch {
      return undefined;
    } finally {
      if (fd !== undefined) closeQuietly(fd);
    }
  }

  /** Returns the entries of a directory, none if it no longer exists or is no directory. In steps: it may be large. */
  *reading(path: ByteString): Steps<BaseName[], undefined> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    const names: BaseName[] = [];
    try {
      for (const dirent of this.#tree.entries(path)) {
        const name = fromLatin1(dirent.name);
        if (!this.withheld.hasIn(path, name)) names.push({ name, type: typeOf(dirent) });
        if (counter.count()) yield;
      }
    } catch (error) {
      throw hostErrno(error);
    }
    return names;
  }

  /** Returns the target of a symlink. Throws ESTALE if it no longer exists. */
  readlink(path: ByteString): Buffer {
    const target = hosted(() => this.#tree.readlink(path));
    if (target === undefined) throw ESTALE;
    return target;
  }

  /**
   * Opens a file for reading. Throws ESTALE unless the path still has the file that `expected` describes. The caller
   * closes the descriptor.
   */
  open(path: ByteString, expected: BaseStat): number {
    const fd = hosted(() => this.#tree.openFile(path));
    if (fd === undefined) throw ESTALE;
    try {
      if (sameFile(fromHost(fstatSync(fd, { bigint: true })), expected)) return fd;
    } catch (error) {
      closeQuietly(fd);
      throw hostErrno(error);
    }
    closeQuietly(fd);
    throw ESTALE;
  }

  /** Identifies a file for reading by other parts of the server, which resolve it in the same way. */
  hostFile(path: ByteString, { ino }: Pick<BaseStat, 'ino'>): HostFile {
    return { root: this.#root, path, ino };
  }
}

function hosted<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw hostErrno(error);
  }
}

/** Whether two stats describe the same file with the same contents, as far as stat(2) can tell. */
export function sameFile(a: BaseStat, b: BaseStat): boolean {
  return (
    a.ino === b.ino &&
    a.dev === b.dev &&
    a.mode === b.mode &&
    a.size === b.size &&
    a.mtime.sec === b.mtime.sec &&
    a.mtime.nsec === b.mtime.nsec
  );
}

function fromHost(stat: import('node:fs').BigIntStats): BaseStat {
  const mtime = timeOf(stat.mtimeNs);
  const mode = Number(stat.mode);
  return {
    dev: Number(stat.dev),
    ino: Number(stat.ino),
    mode,
    nlink: Number(stat.nlink),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    rdev: Number(stat.rdev),
    size: Number(stat.size),
    holes: (mode & S_IFMT) === S_IFREG ? holesIn(stat) : 0,
    // The host's atime would reveal reads by other sandboxes of the codebase.
    atime: mtime,
    mtime,
    ctime: stat.ctimeNs === stat.mtimeNs ? mtime : timeOf(stat.ctimeNs),
  };
}

function typeOf(dirent: import('node:fs').Dirent): number {
  if (dirent.isFile()) return S_IFREG;
  if (dirent.isDirectory()) return S_IFDIR;
  if (dirent.isSymbolicLink()) return S_IFLNK;
  if (dirent.isFIFO()) return S_IFIFO;
  if (dirent.isSocket()) return S_IFSOCK;
  return dirent.isBlockDevice() ? S_IFBLK : S_IFCHR;
}

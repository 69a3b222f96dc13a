import { fstatSync } from 'node:fs';
import type { ByteString } from '../../byte-string.ts';
import { Counted, type Steps } from '../../fuse/connection/steps.ts';
import type { HostFile } from '../../host-tree/host-file.ts';
import type { HostTree } from '../../host-tree/host-tree.ts';
import { closeQuietly } from '../../linux/close.ts';
import { ESTALE, hostErrno } from '../../linux/errno.ts';
import { S_IFBLK, S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFREG, S_IFSOCK } from '../../linux/mode.ts';
import type { Time } from '../../linux/time.ts';
import { timeOf } from '../clock.ts';

export interface BaseStat {
  dev: number;
  ino: number;
  mode: number;
  nlink: number;
  uid: number;
  gid: number;
  rdev: number;
  size: number;
  atime: Time;
  mtime: Time;
  ctime: Time;
}

export interface BaseName {
  name: ByteString;
  /** S_IFMT bits. */
  type: number;
}

/** Names that are read in one step. */
const AT_ONCE = 64;

/** The codebase's files, only read. Paths are relative to its root, '' is the root; no symbolic link is followed. */
export class Base {
  readonly #root: string;
  readonly #tree: HostTree;

  constructor(root: string, tree: HostTree) {
    this.#root = root;
    this.#tree = tree;
  }

  lstat(path: ByteString): BaseStat | undefined {
    const stat = hosted(() => this.#tree.lstat(path));
    return stat === undefined ? undefined : fromHost(stat);
  }

  /** Names of a directory; none when it is gone, or is no directory any more. */
  readdir(path: ByteString): BaseName[] {
    return hosted(() => this.#tree.readdir(path)).map((dirent) => ({ name: dirent.name, type: typeOf(dirent) }));
  }

  /** As `readdir`, a part at a time, for directories that may be large. */
  *reading(path: ByteString): Steps<BaseName[], undefined> {
    const counted = new Counted(AT_ONCE);
    const names: BaseName[] = [];
    try {
      for (const dirent of this.#tree.entries(path)) {
        names.push({ name: dirent.name, type: typeOf(dirent) });
        yield* counted.one();
      }
    } catch (error) {
      throw hostErrno(error);
    }
    return names;
  }

  /** Throws ESTALE when it is gone. */
  readlink(path: ByteString): Buffer {
    const target = hosted(() => this.#tree.readlink(path));
    if (target === undefined) throw ESTALE;
    return target;
  }

  /** The file `expected` describes, for reading, or ESTALE when the path has come to lead to another. The caller closes it. */
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

  /** For the server's own reading, which resolves it as this does. */
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

/** The same file with the same contents, as far as stat can tell. */
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

export function joinPath(dir: ByteString, name: ByteString): ByteString {
  return dir === '' ? name : `${dir}/${name}`;
}

function fromHost(stat: import('node:fs').BigIntStats): BaseStat {
  return {
    dev: Number(stat.dev),
    ino: Number(stat.ino),
    mode: Number(stat.mode),
    nlink: Number(stat.nlink),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    rdev: Number(stat.rdev),
    size: Number(stat.size),
    // The host's atime tells who reads: sandboxes share the base, so none sees it.
    atime: timeOf(stat.mtimeNs),
    mtime: timeOf(stat.mtimeNs),
    ctime: timeOf(stat.ctimeNs),
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

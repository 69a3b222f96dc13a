import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import type { ByteString, Time } from '../filesystem.ts';
import { timeOf } from './clock.ts';
import { ESTALE, hostErrno } from './errno.ts';
import { S_IFBLK, S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFREG, S_IFSOCK } from './mode.ts';

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

/**
 * The codebase's files, only read. Paths are relative to its root, '' is the root. The host resolves them by name, so
 * a directory that turned into a symlink meanwhile could lead out: `open` checks where it arrived.
 */
export class Base {
  readonly #root: ByteString;

  constructor(root: string) {
    this.#root = Buffer.from(realpathSync(root)).toString('latin1');
  }

  lstat(path: ByteString): BaseStat | undefined {
    try {
      const stat = lstatSync(this.#bytes(path), { bigint: true, throwIfNoEntry: false });
      return stat === undefined ? undefined : fromHost(stat);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      // Longer than the host can hold, or below a file: then it is not there.
      if (code === 'ENAMETOOLONG' || code === 'ELOOP' || code === 'ENOTDIR') return undefined;
      throw hostErrno(error);
    }
  }

  /** Names of a directory; none when it is gone. */
  readdir(path: ByteString): BaseName[] {
    try {
      return readdirSync(this.#bytes(path), { withFileTypes: true, encoding: 'latin1' }).map((dirent) => ({
        name: dirent.name,
        type: typeOf(dirent),
      }));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return [];
      throw hostErrno(error);
    }
  }

  readlink(path: ByteString): Buffer {
    try {
      return readlinkSync(this.#bytes(path), { encoding: 'buffer' });
    } catch (error) {
      throw hostErrno(error);
    }
  }

  /** The file `expected` describes, for reading, or ESTALE when the path has come to lead to another. The caller closes it. */
  open(path: ByteString, expected: BaseStat): number {
    const bytes = this.#bytes(path);
    let fd: number;
    try {
      fd = openSync(bytes, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? ESTALE : hostErrno(error);
    }
    try {
      const same = sameFile(fromHost(fstatSync(fd, { bigint: true })), expected);
      if (same && readlinkSync(`/proc/self/fd/${fd}`, { encoding: 'buffer' }).equals(bytes)) return fd;
    } catch (error) {
      closeSync(fd);
      throw hostErrno(error);
    }
    closeSync(fd);
    throw ESTALE;
  }

  /** For the server's own reading: whoever opens it checks where it arrived. */
  hostPath(path: ByteString): ByteString {
    return this.#bytes(path).toString('latin1');
  }

  #bytes(path: ByteString): Buffer {
    return Buffer.from(path === '' ? this.#root : `${this.#root}/${path}`, 'latin1');
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

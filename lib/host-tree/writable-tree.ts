import {
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  futimesSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { type ByteString, baseNameOf, parentOf, ROOT_PATH, toBuffer } from '../byte-string.ts';
import { closeQuietly } from '../linux/close.ts';
import { errorCode } from '../linux/errno.ts';
import { copySparse, holesIn } from '../linux/sparse-files.ts';
import { hostSeconds } from '../linux/time.ts';
import { accessibleMode } from './accessible-mode.ts';
import { at, itself, O_PATH, OPEN_DIRECTORY, OPEN_FILE } from './at.ts';

/** Directories kept open. */
const LIMIT = 64;
const DIRECTORY_MODE = 0o755;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/**
 * A tree with names chosen by tenants that only this thread changes, with synchronous calls. Paths are resolved one name
 * at a time, and no symbolic link is followed. Methods throw the errno of the failed call. Seconds may have a fraction.
 * The caller must call `close`.
 */
export class WritableTree {
  readonly #root: number;
  /** The least recently used are first. */
  readonly #open = new Map<ByteString, number>();
  readonly #made: (() => void) | undefined;
  readonly #umask = process.umask();
  #last: { path: ByteString; fd: number } | undefined;

  /** `made`: missing directories are created (mode 0755), and it is called before each. */
  constructor(root: string, made?: () => void) {
    this.#root = openSync(root, OPEN_DIRECTORY);
    this.#made = made;
  }

  /** Opens the directory and those above it, to be created if this tree creates directories. */
  enter(path: ByteString): void {
    this.#directory(path);
  }

  /** Does not follow a symbolic link; undefined if nothing has the name. */
  lstat(path: ByteString): Stats | undefined {
    return lstatSync(this.#host(path), { throwIfNoEntry: false });
  }

  /** As `lstat`, and creates no directory; undefined also if one above it is missing. */
  find(path: ByteString): Stats | undefined {
    try {
      return lstatSync(at(this.#directory(parentOf(path), false), baseNameOf(path)), { throwIfNoEntry: false });
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Creates a file and returns its descriptor, for writing. Throws EEXIST. */
  create(path: ByteString, mode: number): number {
    const given = accessibleMode(mode, 'file');
    const fd = openSync(this.#host(path), CREATE, given);
    if ((given & this.#umask) !== 0) fchmodSync(fd, given);
    return fd;
  }

  /** Creates a file with the contents and holes of an open one, cloned if the disk supports it. Throws EEXIST. */
  copy(source: number, path: ByteString): void {
    if (holesIn(fstatSync(source, { bigint: true })) === 0) {
      copyFileSync(itself(source), this.#host(path), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      return;
    }
    const copy = openSync(this.#host(path), CREATE, 0o600);
    try {
      copySparse(source, copy);
    } finally {
      closeQuietly(copy);
    }
  }

  /** Opens a file for reading; the caller must check its type. Throws ELOOP for a symbolic link. */
  openFile(path: ByteString): number {
    return openSync(this.#host(path), OPEN_FILE);
  }

  /** Refers to an entry of any type without opening it (O_PATH): it exists until the descriptor is closed. */
  openPath(path: ByteString): number {
    return openSync(this.#host(path), O_PATH | constants.O_NOFOLLOW);
  }

  /** Throws EEXIST. */
  symlink(target: ByteString, path: ByteString, mtime: number): void {
    const host = this.#host(path);
    symlinkSync(toBuffer(target), host);
    lutimesSync(host, hostSeconds(mtime), hostSeconds(mtime));
  }

  /** Gives an entry of this tree another name. Throws EEXIST. */
  link(from: ByteString, to: ByteString): void {
    // A descriptor of its own: resolving the other path may close that of the directory.
    const parent = openSync(itself(this.#directory(parentOf(from))), constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      linkSync(at(parent, baseNameOf(from)), this.#host(to));
    } finally {
      closeQuietly(parent);
    }
  }

  /** Creates no directory above it: throws ENOENT, as if it is missing itself. */
  unlink(path: ByteString): void {
    unlinkSync(at(this.#directory(parentOf(path), false), baseNameOf(path)));
  }

  /** Removes an empty directory; as `unlink`. */
  removeDirectory(path: ByteString): void {
    rmdirSync(at(this.#directory(parentOf(path), false), baseNameOf(path)));
    const fd = this.#open.get(path);
    if (fd === undefined) return;
    this.#open.delete(path);
    this.#last = undefined;
    closeQuietly(fd);
  }

  /** Throws EEXIST. The mode is reduced by the server's umask. */
  makeDirectory(path: ByteString, mode: number): void {
    mkdirSync(this.#host(path), mode);
  }

  /** A descriptor of an existing directory, valid until the next path is resolved. */
  directory(path: ByteString): number {
    return this.#directory(path, false);
  }

  /** Sets permission bits and mtime of a directory. */
  setDirectory(path: ByteString, mode: number, mtime: number): void {
    const fd = this.#directory(path);
    fchmodSync(fd, accessibleMode(mode, 'directory'));
    futimesSync(fd, hostSeconds(mtime), hostSeconds(mtime));
  }

  /** Moves an entry to another tree of the same file system, replacing one that is no directory. */
  moveTo(path: ByteString, other: WritableTree, to: ByteString): void {
    const target = other.#host(to);
    renameSync(this.#host(path), target);
  }

  close(): void {
    for (const fd of this.#open.values()) closeQuietly(fd);
    this.#open.clear();
    this.#last = undefined;
    closeQuietly(this.#root);
  }

  /** A host path of the name for one system call, valid until the next path is resolved. */
  #host(path: ByteString): string | Buffer {
    return at(this.#directory(parentOf(path)), baseNameOf(path));
  }

  #directory(path: ByteString, makes = true): number {
    if (path === ROOT_PATH) return this.#root;
    if (this.#last?.path === path) return this.#last.fd;
    const missing: ByteString[] = [];
    let above = path;
    while (above !== ROOT_PATH && !this.#open.has(above)) {
      missing.push(above);
      above = parentOf(above);
    }
    // What follows may close its descriptor and fail, and the number would be that of another directory.
    this.#last = undefined;
    let fd = this.#used(above);
    for (const each of missing.reverse()) fd = this.#enter(fd, each, makes);
    this.#last = { path, fd };
    return fd;
  }

  #used(path: ByteString): number {
    const fd = this.#open.get(path);
    if (fd === undefined) return this.#root;
    this.#open.delete(path);
    this.#open.set(path, fd);
    return fd;
  }

  #enter(parent: number, path: ByteString, makes: boolean): number {
    const host = at(parent, baseNameOf(path));
    const made = makes ? this.#made : undefined;
    const fd = made === undefined ? openSync(host, OPEN_DIRECTORY) : openOrMake(host, made);
    this.#open.set(path, fd);
    for (const [oldest, descriptor] of this.#open) {
      if (this.#open.size <= LIMIT) break;
      this.#open.delete(oldest);
      closeQuietly(descriptor);
    }
    return fd;
  }
}

function openOrMake(host: string | Buffer, made: () => void): number {
  try {
    return openSync(host, OPEN_DIRECTORY);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  made();
  mkdirSync(host, DIRECTORY_MODE);
  const fd = openSync(host, OPEN_DIRECTORY);
  // The mode given to mkdir is reduced by the server's umask.
  fchmodSync(fd, DIRECTORY_MODE);
  return fd;
}

import { constants, copyFileSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { Postponed } from '../../../fuse/filesystem.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { Errno, errorCode } from '../../../linux/errno.ts';
import { copySparse, holesIn, storedIn } from '../../../linux/sparse-files.ts';
import type { BackgroundCopy } from './background-copy.ts';

/** Files larger than this, in bytes, are copied while other requests are served. */
const LARGE = 4 << 20;
/** Copies in progress, each with an open file: of one layer, and of all together, where each layer may have one. */
const MOST_OF_LAYER = 8;
const MOST = 256;
const COPY_NAME = /^copy-\d+$/;

interface Copy extends BackgroundCopy {
  key: string;
  directory: string;
  /** What is stored, in bytes. */
  size: number;
  fd: number;
  /** undefined: in progress. 0: complete. */
  errno: number | undefined;
}

/**
 * Copies of host files into layers. A reflink or a small copy is made at once. A larger copy is made by another thread
 * under a temporary name: the request is Postponed, runs again when the copy is complete, and then only renames it. Where
 * too many are in progress, it runs again when one of them is complete, and begins its own.
 * Unused copies are removed by `removeUnused` or at the next load.
 */
export class LargeCopies {
  readonly #start: ((copy: BackgroundCopy) => void) | undefined;
  readonly #copies = new Map<string, Copy>();
  /** Devices without reflinks. */
  readonly #cannotClone = new Set<bigint>();
  #lastId = 0;

  /** `start` starts a copy in another thread; absent: every copy is made at once. */
  constructor(start?: (copy: BackgroundCopy) => void) {
    this.#start = start;
  }

  /** Whether a file name is that of a temporary copy. */
  static isCopy(name: string): boolean {
    return COPY_NAME.test(name);
  }

  /** Throws Postponed while the open file is being copied into the layer's directory. */
  wait(from: number, directory: string): void {
    if (this.#copies.size === 0) return;
    const copy = this.#copies.get(keyOf(fstatSync(from, { bigint: true }), directory));
    if (copy !== undefined && copy.errno === undefined) throw new Postponed(copy.id);
  }

  /**
   * Copies the open file to `to`, in the layer's directory or below, or throws Postponed. Throws the errno of a failed
   * copy.
   */
  copy(from: number, to: string, directory: string): void {
    const source = `/proc/self/fd/${from}`;
    const stat = fstatSync(from, { bigint: true });
    const isSparse = holesIn(stat) > 0;
    if (this.#start === undefined || stat.size < LARGE) {
      copyNow(from, to, isSparse);
      return;
    }
    if (this.#cloned(source, to, stat.dev)) return;
    const key = keyOf(stat, directory);
    const known = this.#copies.get(key);
    if (known === undefined) {
      const about = { key, directory, isSparse, size: storedIn(stat) };
      throw new Postponed(this.#inTheWay(directory)?.id ?? this.#begin(source, about));
    }
    if (known.errno === undefined) throw new Postponed(known.id);
    if (known.errno === 0 && !renamed(known.to, to)) copyNow(from, to, isSparse);
    this.#copies.delete(key);
    if (known.errno > 0) {
      removeQuietly(known.to);
      throw new Errno(known.errno);
    }
  }

  /** Bytes that are being copied into a directory. */
  pendingBytes(directory: string): number {
    let bytes = 0;
    for (const copy of this.#copies.values()) {
      if (copy.directory === directory && copy.errno === undefined) bytes += copy.size;
    }
    return bytes;
  }

  /** Called when the other thread has completed a copy (errno 0) or failed. */
  done(id: number, errno: number): void {
    for (const copy of this.#copies.values()) {
      if (copy.id !== id) continue;
      copy.errno = errno;
      closeQuietly(copy.fd);
    }
  }

  /** Removes complete copies that no request used. Called after all postponed requests ran again. */
  removeUnused(): void {
    for (const [key, copy] of this.#copies) {
      if (copy.errno === undefined) continue;
      this.#copies.delete(key);
      removeQuietly(copy.to);
    }
  }

  /** One that must be complete before another begins: the last one, so that not all that wait run again after each. */
  #inTheWay(directory: string): Copy | undefined {
    const all = [...this.#copies.values()].filter(({ errno }) => errno === undefined);
    const own = all.filter((copy) => copy.directory === directory);
    return own.length >= MOST_OF_LAYER || all.length >= MOST ? own.at(-1) : undefined;
  }

  #begin(source: string, about: Pick<Copy, 'key' | 'directory' | 'isSparse' | 'size'>): number {
    const { directory } = about;
    const id = ++this.#lastId;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const fd = openSync(source, constants.O_RDONLY);
    const copy = { id, from: `/proc/self/fd/${fd}`, to: `${directory}/copy-${id}`, isSparse: about.isSparse };
    try {
      this.#start!(copy);
    } catch (error) {
      closeQuietly(fd);
      throw error;
    }
    this.#copies.set(about.key, { ...copy, ...about, fd, errno: undefined });
    return id;
  }

  #cloned(source: string, to: string, device: bigint): boolean {
    if (this.#cannotClone.has(device)) return false;
    try {
      copyFileSync(source, to, constants.COPYFILE_FICLONE_FORCE);
      return true;
    } catch (error) {
      if (!['ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOTTY', 'ENOSYS'].includes(codeOf(error))) throw error;
      this.#cannotClone.add(device);
      return false;
    }
  }
}

/** On some file systems a reflink. */
function copyNow(from: number, to: string, isSparse: boolean): void {
  if (!isSparse) {
    copyFileSync(`/proc/self/fd/${from}`, to, constants.COPYFILE_FICLONE);
    return;
  }
  const copy = openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    copySparse(from, copy);
  } finally {
    closeQuietly(copy);
  }
}

/** Key of a copy: the same file with the same contents, into the same layer. */
function keyOf(stat: { dev: bigint; ino: bigint; mtimeNs: bigint; size: bigint }, directory: string): string {
  return `${stat.dev}:${stat.ino}:${stat.mtimeNs}:${stat.size}:${directory}`;
}

/** Renames a complete copy. Returns false if the load of a new attachment has removed it. */
function renamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || !existsSync(dirname(to))) throw error;
    return false;
  }
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The next load removes it.
  }
}

function codeOf(error: unknown): string {
  return errorCode(error) ?? '';
}

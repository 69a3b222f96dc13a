import { type BigIntStats, constants, type Dirent } from 'node:fs';
import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  opendir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises';
import type { ByteString } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import { at, isAbsence, itself, O_PATH, OPEN_DIRECTORY, OPEN_FILE } from './at.ts';

/**
 * An open directory. Every operation resolves one name in it and follows no symbolic link, so a component replaced by a
 * symbolic link leads nowhere. The caller must close it.
 */
export class Directory {
  readonly #handle: FileHandle;
  readonly #identity: string;

  private constructor(handle: FileHandle, identity: string) {
    this.#handle = handle;
    this.#identity = identity;
  }

  /** Opens a directory of the server: all components of `path` but the last are resolved normally. */
  static async open(path: string | Buffer): Promise<Directory> {
    const handle = await open(path, OPEN_DIRECTORY);
    try {
      const { dev, ino } = await handle.stat({ bigint: true });
      return new Directory(handle, `${dev}:${ino}`);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Rejects with ENOENT, or with ENOTDIR for any other type, including a symbolic link to a directory. */
  directory(name: ByteString): Promise<Directory> {
    return Directory.open(this.path(name));
  }

  /** Returns the parent directory; ABORTED if this directory was moved meanwhile. */
  async parent(expected: { readonly identity: string }): Promise<Directory> {
    const parent = await Directory.open(`${itself(this.#handle.fd)}/..`);
    if (parent.identity === expected.identity) return parent;
    await parent.close();
    throw new ServiceError('ABORTED', 'the directory was moved meanwhile; try again');
  }

  /** A host path for one system call on `name` that follows no symbolic link; valid while this directory is open. */
  path(name: ByteString): string | Buffer {
    return at(this.#handle.fd, name);
  }

  /** Identifies the directory as long as it exists. */
  get identity(): string {
    return this.#identity;
  }

  /** Does not follow a symbolic link; undefined if the name does not exist. */
  async lstat(name: ByteString): Promise<BigIntStats | undefined> {
    try {
      return await lstat(this.path(name), { bigint: true });
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }

  /** Entries in no particular order, read in parts, because there may be millions. Names have one char per byte. */
  async *entries(): AsyncGenerator<Dirent> {
    yield* await opendir(itself(this.#handle.fd), { encoding: 'latin1', bufferSize: 1024 });
  }

  async hasMoreThanOne(): Promise<boolean> {
    const directory = await opendir(itself(this.#handle.fd));
    try {
      await directory.read();
      return (await directory.read()) !== null;
    } finally {
      await directory.close();
    }
  }

  makeDirectory(name: ByteString, mode = 0o755): Promise<void> {
    return mkdir(this.path(name), { mode });
  }

  removeDirectory(name: ByteString): Promise<void> {
    return rmdir(this.path(name));
  }

  unlink(name: ByteString): Promise<void> {
    return unlink(this.path(name));
  }

  symlink(target: Buffer, name: ByteString): Promise<void> {
    return symlink(target, this.path(name));
  }

  readlink(name: ByteString): Promise<Buffer> {
    return readlink(this.path(name), { encoding: 'buffer' });
  }

  /** Moves `from` of another directory to `name`, replacing an existing entry. */
  take(source: Directory, from: ByteString, name: ByteString): Promise<void> {
    return rename(source.path(from), this.path(name));
  }

  /**
   * Rejects with ELOOP for a symbolic link. With O_CREAT, `mode` is that of the new file, reduced by the server's
   * umask.
   */
  open(name: ByteString, flags: number, mode?: number): Promise<FileHandle> {
    return open(this.path(name), flags | constants.O_NOFOLLOW, mode);
  }

  /** Opens for reading without blocking. The caller must check the type. */
  openFile(name: ByteString): Promise<FileHandle> {
    return open(this.path(name), OPEN_FILE);
  }

  chmod(mode: number): Promise<void> {
    return this.#handle.chmod(mode);
  }

  /** Changes the mode of a directory so that a server without root, which owns it, can access it. */
  async unlock(name: ByteString): Promise<void> {
    const handle = await open(this.path(name), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await chmod(itself(handle.fd), 0o700);
    } finally {
      await handle.close();
    }
  }

  /** Makes additions, renames and removals of names durable. */
  sync(): Promise<void> {
    return this.#handle.sync();
  }

  /** Never rejects: a directory that is only read has nothing to tell at its end, and is closed in any case. */
  close(): Promise<void> {
    return this.#handle.close().catch(() => undefined);
  }
}

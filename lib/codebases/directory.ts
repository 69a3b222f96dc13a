import { type BigIntStats, constants, type Dirent } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { ServiceError } from '../errors.ts';
import type { ByteString } from '../fuse/filesystem.ts';
import { ignoreAbsent } from './disk-errors.ts';

const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * An open directory. Whatever is done goes from here by a single name: no path is resolved twice, so a component that
 * is swapped for a symlink while we work leads nowhere. Close it.
 */
export class Directory {
  readonly #handle: FileHandle;
  readonly #identity: string;

  private constructor(handle: FileHandle, identity: string) {
    this.#handle = handle;
    this.#identity = identity;
  }

  /** `path` itself must be the server's own. */
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

  /** Errno ENOENT, or ENOTDIR for anything that is not a directory, a symlink to one included. */
  directory(name: ByteString): Promise<Directory> {
    return Directory.open(this.path(name));
  }

  /** The directory this one was reached from; ABORTED when it was moved meanwhile. */
  async parent(expected: { readonly identity: string }): Promise<Directory> {
    const parent = await Directory.open(this.path('..'));
    if (parent.identity === expected.identity) return parent;
    await parent.close();
    throw new ServiceError('ABORTED', 'the directory was moved meanwhile; try again');
  }

  /** A host path for one system call on `name`; good while this is open. */
  path(name: ByteString): Buffer {
    return Buffer.from(`/proc/self/fd/${this.#handle.fd}/${name}`, 'latin1');
  }

  /** Tells directories apart while they exist. */
  get identity(): string {
    return this.#identity;
  }

  /** Of the name itself, a symlink not followed; undefined when it is not there. */
  lstat(name: ByteString): Promise<BigIntStats | undefined> {
    return lstat(this.path(name), { bigint: true }).catch(ignoreAbsent);
  }

  /** In no order, a part of the directory at a time: it may have millions. */
  async *entries(): AsyncGenerator<Dirent> {
    yield* await opendir(this.path('.').toString(), { encoding: 'latin1', bufferSize: 1024 });
  }

  async hasMoreThanOne(): Promise<boolean> {
    const directory = await opendir(this.path('.').toString());
    try {
      await directory.read();
      return (await directory.read()) !== null;
    } finally {
      await directory.close();
    }
  }

  makeDirectory(name: ByteString): Promise<void> {
    return mkdir(this.path(name), { mode: 0o755 });
  }

  removeDirectory(name: ByteString): Promise<void> {
    return rmdir(this.path(name));
  }

  unlink(name: ByteString): Promise<void> {
    return unlink(this.path(name));
  }

  /** Moves the file at `from` to `name`, in place of what is there. */
  take(from: string, name: ByteString): Promise<void> {
    return rename(from, this.path(name));
  }

  open(name: ByteString, flags: number): Promise<FileHandle> {
    return open(this.path(name), flags | constants.O_NOFOLLOW);
  }

  chmod(mode: number): Promise<void> {
    return this.#handle.chmod(mode);
  }

  /** Makes names that were added, moved or removed durable. */
  sync(): Promise<void> {
    return this.#handle.sync();
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

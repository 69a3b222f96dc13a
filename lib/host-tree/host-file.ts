import type { FileHandle } from 'node:fs/promises';
import { type ByteString, baseNameOf, parentOf } from '../byte-string.ts';
import { isAbsence } from './at.ts';
import type { Directory } from './directory.ts';
import { OpenDirectories } from './open-directories.ts';

/** A regular file on the host: a directory of the server, and a path in it whose names may be chosen by a tenant. */
export interface HostFile {
  readonly root: string;
  readonly path: ByteString;
  /** Expected inode number, if another file may have replaced it. */
  readonly ino?: number;
}

/** Opens host files, keeping parent directories open between calls. The caller must close it. */
export class HostFileReader {
  readonly #byRoot = new Map<string, OpenDirectories>();
  readonly #maxDirectories: number | undefined;

  /** `maxDirectories`: number of directories of each root kept open between calls; default as `OpenDirectories`. */
  constructor(maxDirectories?: number) {
    this.#maxDirectories = maxDirectories;
  }

  /** Opens for reading. undefined: no such regular file exists any more. The caller must close the handle. */
  async open({ root, path, ino }: HostFile): Promise<FileHandle | undefined> {
    const handle = await this.#at(root, path, (directory, name) => directory.openFile(name));
    if (handle === undefined) return undefined;
    try {
      const stat = await handle.stat();
      if (stat.isFile() && (ino === undefined || stat.ino === ino)) return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
    await handle.close();
    return undefined;
  }

  /** Returns the target of a symbolic link; undefined: it no longer exists. */
  readlink({ root, path }: HostFile): Promise<Buffer | undefined> {
    return this.#at(root, path, async (directory, name) => {
      const found = await directory.lstat(name);
      return found?.isSymbolicLink() ? directory.readlink(name) : undefined;
    });
  }

  /** Must not be called while an operation is in progress. */
  async close(): Promise<void> {
    const all = [...this.#byRoot.values()];
    this.#byRoot.clear();
    await Promise.all(all.map((directories) => directories.close()));
  }

  async #at<T>(
    root: string,
    path: ByteString,
    task: (directory: Directory, name: ByteString) => Promise<T>,
  ): Promise<T | undefined> {
    const directories = this.#byRoot.get(root) ?? new OpenDirectories(root, this.#maxDirectories);
    this.#byRoot.set(root, directories);
    try {
      return await directories.use(parentOf(path), (directory) => task(directory, baseNameOf(path)));
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }
}

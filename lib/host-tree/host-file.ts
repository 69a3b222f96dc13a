import type { FileHandle } from 'node:fs/promises';
import type { ByteString } from '../byte-string.ts';
import { isAbsence } from './at.ts';
import type { Directory } from './directory.ts';
import { OpenDirectories } from './open-directories.ts';

/** A regular file of the host: a directory of the server's own, and a path in it whose names a tenant may have chosen. */
export interface HostFile {
  readonly root: string;
  readonly path: ByteString;
  /** Its inode number, where another file may have taken its place since. */
  readonly ino?: number;
}

/** Opens host files for the length of a task, with the directories on the way. Close it. */
export class HostFileReader {
  readonly #byRoot = new Map<string, OpenDirectories>();

  /** For reading. undefined: there is no such regular file any more. The caller closes it. */
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

  /** The target of a symbolic link; undefined: there is none any more. */
  readlink({ root, path }: HostFile): Promise<Buffer | undefined> {
    return this.#at(root, path, async (directory, name) => {
      const found = await directory.lstat(name);
      return found?.isSymbolicLink() ? directory.readlink(name) : undefined;
    });
  }

  /** Not while a call is under way. */
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
    const directories = this.#byRoot.get(root) ?? new OpenDirectories(root);
    this.#byRoot.set(root, directories);
    const slash = path.lastIndexOf('/');
    const parent = slash === -1 ? '' : path.slice(0, slash);
    try {
      return await directories.use(parent, (directory) => task(directory, path.slice(slash + 1)));
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }
}

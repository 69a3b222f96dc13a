import * as fs from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../linux/errno.ts';

/** The file operations in use; tests replace them to inject failures. */
export type FileSystem = Pick<typeof fs, 'open' | 'link' | 'rename' | 'rm' | 'readFile' | 'readdir'>;

/**
 * One file that is replaced atomically: after a crash or power failure it has the old or the new content. The previous
 * content is kept in `.bak`. Mode 0600. One write at a time.
 */
export class DurableFile {
  readonly path: string;
  readonly backup: string;
  readonly #fs: FileSystem;
  /** The backup may be the present content, if a crash or failure came between the two renames. */
  #backupMayBePresent = true;

  constructor(path: string, fileSystem: FileSystem = fs) {
    this.path = path;
    this.backup = `${path}.bak`;
    this.#fs = fileSystem;
  }

  /** undefined: the file does not exist. */
  async read(): Promise<Buffer | undefined> {
    try {
      return await this.#fs.readFile(this.path);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Whether there is a previous content. */
  async hasBackup(): Promise<boolean> {
    return (await this.#fs.readdir(dirname(this.path))).includes(basename(this.backup));
  }

  /**
   * Durable when it resolves. After a failure either content may survive a crash; a further write uses a new file,
   * because data whose fsync(2) failed may never reach the disk.
   */
  async replace(content: string): Promise<void> {
    const temporary = this.#sibling('.tmp');
    await this.#fs.rm(temporary, { force: true });
    try {
      await this.#writeSynced(temporary, content);
      await this.#keepBackup();
      await this.#fs.rename(temporary, this.path);
      this.#backupMayBePresent = false;
    } catch (error) {
      this.#backupMayBePresent = true;
      await this.#fs.rm(temporary, { force: true }).catch(() => undefined);
      throw error;
    }
    await this.#syncDirectory();
  }

  async #writeSynced(path: string, content: string): Promise<void> {
    const file = await this.#fs.open(path, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** Links the present content to the backup name. Best effort: it only helps the operator. */
  async #keepBackup(): Promise<void> {
    const temporary = this.#sibling('.bak.tmp');
    try {
      await this.#fs.rm(temporary, { force: true });
      await this.#fs.link(this.path, temporary);
      await this.#fs.rename(temporary, this.backup);
      // rename(2) of two names of one file does nothing and keeps both.
      if (this.#backupMayBePresent) await this.#fs.rm(temporary, { force: true });
    } catch {
      // There is no file yet, or the file system has no hard links.
    }
  }

  async #syncDirectory(): Promise<void> {
    const directory = await this.#fs.open(dirname(this.path), 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  #sibling(suffix: string): string {
    return join(dirname(this.path), `.${basename(this.path)}${suffix}`);
  }
}

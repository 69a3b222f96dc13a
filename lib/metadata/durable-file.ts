import * as fs from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The file operations used, so that a test can make the Nth of them fail. */
export type FileSystem = Pick<typeof fs, 'open' | 'link' | 'rename' | 'rm' | 'readFile' | 'readdir'>;

/**
 * One file, replaced as a whole: a crash or a power cut at any moment leaves the old or the new content. The content
 * before the last is kept beside it as `.bak`. Mode 0600. One write at a time.
 */
export class DurableFile {
  readonly path: string;
  readonly backup: string;
  readonly #fs: FileSystem;
  /** The backup may be the present content: a crash or a failure came between the two renames. */
  #backupMayBePresent = true;

  constructor(path: string, fileSystem: FileSystem = fs) {
    this.path = path;
    this.backup = `${path}.bak`;
    this.#fs = fileSystem;
  }

  /** undefined: there is no such file. */
  async read(): Promise<Buffer | undefined> {
    try {
      return await this.#fs.readFile(this.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** There was a content before. */
  async hasBackup(): Promise<boolean> {
    return (await this.#fs.readdir(dirname(this.path))).includes(basename(this.backup));
  }

  /**
   * Durable on return. After a failure it is unknown which of the two contents a crash would leave; a further write
   * starts from scratch, for what fsync has once reported as failed may never reach the disk.
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

  /** A second name for the present content. Best effort: it is a help for the operator, nothing depends on it. */
  async #keepBackup(): Promise<void> {
    const temporary = this.#sibling('.bak.tmp');
    try {
      await this.#fs.rm(temporary, { force: true });
      await this.#fs.link(this.path, temporary);
      await this.#fs.rename(temporary, this.backup);
      // rename(2) of one name of a file to another one of it does nothing, and leaves both.
      if (this.#backupMayBePresent) await this.#fs.rm(temporary, { force: true });
    } catch {
      // No file yet, or a disk without hard links.
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

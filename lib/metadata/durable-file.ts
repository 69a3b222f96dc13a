import * as fs from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const SYNC_BYTES = 4 << 20;

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

  /** Whether there is a previous content. */
  async hasBackup(): Promise<boolean> {
    return (await this.#fs.readdir(dirname(this.path))).includes(basename(this.backup));
  }

  /**
   * Durable when it resolves. After a failure either content may survive a crash; a further write uses a new file,
   * because data whose fsync(2) failed may never reach the disk. `ready` is called when the new content is on the disk,
   * and may reject to keep the old one.
   */
  async replace(content: string | Iterable<Buffer>, ready?: () => Promise<void>): Promise<void> {
    const temporary = this.#sibling('.tmp');
    await this.#fs.rm(temporary, { force: true });
    try {
      await this.#writeSynced(temporary, typeof content === 'string' ? [Buffer.from(content)] : content);
      await ready?.();
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

  async #writeSynced(path: string, content: Iterable<Buffer>): Promise<void> {
    const file = await this.#fs.open(path, 'wx', 0o600);
    try {
      let unsynced = 0;
      for (const piece of content) {
        await file.writeFile(piece);
        unsynced += piece.length;
        // Not all at the end, which would delay the changes that are synced meanwhile.
        if (unsynced >= SYNC_BYTES) {
          await file.datasync();
          unsynced = 0;
        }
      }
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

  #syncDirectory(): Promise<void> {
    return syncDirectory(dirname(this.path), this.#fs);
  }

  #sibling(suffix: string): string {
    return siblingOf(this.path, suffix);
  }
}

/** A hidden name beside a file. */
export function siblingOf(path: string, suffix: string): string {
  return join(dirname(path), `.${basename(path)}${suffix}`);
}

export async function syncDirectory(path: string, fileSystem: Pick<FileSystem, 'open'>): Promise<void> {
  const directory = await fileSystem.open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

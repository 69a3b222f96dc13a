import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmod, lstat, mkdir, readFile, readlink, rename, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What is at a path, on either side. */
export type Found =
  | { type: 'file'; data: Uint8Array; executable: boolean }
  | { type: 'symlink'; target: string }
  | { type: 'directory' }
  | { type: 'other' }
  | undefined;

/** A path of a local directory that no symlink leads out of. */
export class Place {
  readonly #root: string;
  readonly path: string;

  constructor(root: string, path: string) {
    this.#root = root;
    this.path = path;
  }

  get #full(): string {
    return join(this.#root, this.path);
  }

  /**
   * Whether all directories above are directories, or missing. The threat: a sandbox creates a file below a name that
   * is a symlink here, and writes to its target.
   */
  async isBelowDirectories(): Promise<boolean> {
    const parts = this.path.split('/');
    if (
      parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\\') || part.includes('\0'))
    )
      return false;
    for (let depth = 1; depth < parts.length; depth++) {
      const found = await statOf(join(this.#root, ...parts.slice(0, depth)));
      if (found === undefined) return true;
      if (!found.isDirectory()) return false;
    }
    return true;
  }

  async read(): Promise<Found> {
    const found = await statOf(this.#full);
    if (found === undefined) return undefined;
    if (found.isSymbolicLink()) return { type: 'symlink', target: await readlink(this.#full) };
    if (found.isDirectory()) return { type: 'directory' };
    if (!found.isFile()) return { type: 'other' };
    return { type: 'file', data: await readFile(this.#full), executable: (found.mode & 0o100) !== 0 };
  }

  /** Replaces what is here, at once for a file or symlink. */
  async write(found: Exclude<Found, undefined>): Promise<void> {
    const temporary = `${this.#full}.${randomUUID().slice(0, 8)}.tmp`;
    if (found.type === 'directory') {
      const now = await statOf(this.#full);
      if (now && !now.isDirectory()) await rm(this.#full);
      await mkdir(this.#full, { recursive: true });
      return;
    }
    await mkdir(dirname(this.#full), { recursive: true });
    if ((await statOf(this.#full))?.isDirectory()) await rmdir(this.#full);
    try {
      if (found.type === 'symlink') await symlink(found.target, temporary);
      else if (found.type === 'file') {
        await writeFile(temporary, found.data, { flag: 'wx', mode: await this.#mode(found.executable) });
        await chmod(temporary, await this.#mode(found.executable));
      }
      await rename(temporary, this.#full);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** Permission bits of the file that is replaced, with the execute bits of the new one. */
  async #mode(executable: boolean): Promise<number> {
    const now = await statOf(this.#full);
    const bits = now?.isFile() ? now.mode & 0o666 : 0o666 & ~process.umask();
    return executable ? bits | ((bits & 0o444) >> 2) : bits;
  }

  /** Removes a file, symlink or empty directory. False: the directory is not empty. */
  async remove(): Promise<boolean> {
    try {
      if ((await statOf(this.#full))?.isDirectory()) await rmdir(this.#full);
      else await rm(this.#full, { force: true });
      return true;
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) return false;
      throw error;
    }
  }
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code);

/** Of files only the execute bit counts, as for git: a umask makes other bits differ. */
export function isSame(a: Found, b: Found): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.type === 'file' && b.type === 'file') return a.executable === b.executable && sameBytes(a.data, b.data);
  if (a.type === 'symlink' && b.type === 'symlink') return a.target === b.target;
  return a.type === b.type && a.type === 'directory';
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

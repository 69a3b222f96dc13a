import { randomUUID } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { lstat, mkdir, open, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Found, versionOf } from './found.ts';

/** What was at a path, and a mark that changes with it. */
export interface Look {
  found: Found;
  mark: string;
}

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

  async look(): Promise<Look> {
    const stat = await statOf(this.#full);
    const mark = markOf(stat);
    if (stat === undefined) return { found: undefined, mark };
    if (stat.isSymbolicLink()) return { found: { type: 'symlink', target: await readlink(this.#full) }, mark };
    if (stat.isDirectory()) return { found: { type: 'directory' }, mark };
    if (!stat.isFile()) return { found: { type: 'other' }, mark };
    const handle = await open(this.#full, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const version = await versionOf(handle.createReadStream());
    return { found: { type: 'file', version, executable: (Number(stat.mode) & 0o100) !== 0 }, mark };
  }

  /** Whether nothing changed here since. */
  async isStill({ mark }: Look): Promise<boolean> {
    return (await this.isBelowDirectories()) && markOf(await statOf(this.#full)) === mark;
  }

  /** The same for two names of one file, where upper and lower case are one. */
  async identity(): Promise<string | undefined> {
    const stat = await statOf(this.#full);
    return stat && `${stat.dev}:${stat.ino}`;
  }

  /** Writes a new file beside this path, for `replace`. */
  async receive(
    content: AsyncIterable<Uint8Array>,
    executable: boolean,
  ): Promise<{ temporary: string; version: string }> {
    const temporary = await this.#temporary();
    const mode = await this.#mode(executable);
    const handle = await open(temporary, 'wx', mode);
    try {
      const version = await versionOf(content, (piece) => handle.writeFile(piece));
      await handle.chmod(mode);
      return { temporary, version };
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
  }

  /** Writes a new symlink beside this path, for `replace`. */
  async receiveLink(target: string): Promise<string> {
    const temporary = await this.#temporary();
    await symlink(target, temporary);
    return temporary;
  }

  /** In the place of what is here, at once if it is no directory. A directory must be empty. */
  async replace(temporary: string): Promise<void> {
    if ((await statOf(this.#full))?.isDirectory()) await rmdir(this.#full);
    await rename(temporary, this.#full);
  }

  async discard(temporary: string): Promise<void> {
    await rm(temporary, { force: true });
  }

  /** A directory in the place of a file, symlink or nothing. */
  async makeDirectory(): Promise<void> {
    const now = await statOf(this.#full);
    if (now && !now.isDirectory()) await rm(this.#full);
    await mkdir(this.#full, { recursive: true });
  }

  /** Removes a file, symlink or empty directory. */
  async remove(): Promise<void> {
    if ((await statOf(this.#full))?.isDirectory()) await rmdir(this.#full);
    else await rm(this.#full, { force: true });
  }

  /** A short name: that of the path may be as long as a name can be. */
  async #temporary(): Promise<string> {
    const directory = dirname(this.#full);
    await mkdir(directory, { recursive: true });
    return join(directory, `.${randomUUID().slice(0, 8)}.tmp`);
  }

  /** Permission bits of the file that is replaced, with the execute bits of the new one. */
  async #mode(executable: boolean): Promise<number> {
    const now = await statOf(this.#full);
    const bits = now?.isFile() ? Number(now.mode) & 0o666 : 0o666 & ~process.umask();
    return executable ? bits | ((bits & 0o444) >> 2) : bits;
  }
}

async function statOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String((error as { code?: unknown }).code))) return undefined;
    throw error;
  }
}

/** The times of a directory change with its entries. */
function markOf(stat: BigIntStats | undefined): string {
  if (stat === undefined) return '';
  const { dev, ino, mode, size, mtimeNs, ctimeNs } = stat;
  return stat.isDirectory() ? `${dev} ${ino}` : [dev, ino, mode, size, mtimeNs, ctimeNs].join(' ');
}

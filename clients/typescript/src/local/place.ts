import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { type Found, versionOf } from './found.ts';
import { give, giveAt, type Owner, ownerOf } from './owner.ts';
import { identityOf, openParent, type Parent } from './parent.ts';
import { temporaryName } from './temporary.ts';

/** What was at a path, and a mark that changes with it. */
export interface Look {
  found: Found;
  mark: string;
}

/**
 * A path of a local directory that no symlink leads out of. The threat: a sandbox creates a file below a name that is a
 * symlink here, and writes to its target.
 */
export class Place {
  readonly #root: string;
  readonly #parents: readonly string[];
  readonly #name: string;
  readonly path: string;
  /** undefined: not entered, or missing. */
  #parent: Parent | undefined;

  private constructor(root: string, path: string) {
    const parts = path.split('/');
    this.#root = root;
    this.path = path;
    this.#name = parts.at(-1)!;
    this.#parents = parts.slice(0, -1);
  }

  /** Calls `use` if all directories above are directories, or missing; otherwise returns `otherwise`. */
  static async use<T>(
    root: string,
    path: string,
    { use, otherwise }: { use: (place: Place) => Promise<T>; otherwise: T },
  ): Promise<T> {
    const place = new Place(root, path);
    if (path.split('/').some(isUnsafe)) return otherwise;
    try {
      place.#parent = await openParent(root, place.#parents);
    } catch (error) {
      if (isElsewhere(error)) return otherwise;
      throw error;
    }
    try {
      return await use(place);
    } finally {
      await place.#parent?.close();
    }
  }

  #at(parent: Parent): string {
    return join(parent.path, this.#name);
  }

  async #stat(): Promise<BigIntStats | undefined> {
    return this.#parent && (await statOf(this.#at(this.#parent)));
  }

  /** Creates the directory if it is missing. */
  async #above(): Promise<Parent> {
    this.#parent ??= (await openParent(this.#root, this.#parents, { make: true }))!;
    return this.#parent;
  }

  async #made(): Promise<string> {
    return this.#at(await this.#above());
  }

  async look(): Promise<Look> {
    const stat = await this.#stat();
    const mark = markOf(stat);
    if (stat === undefined) return { found: undefined, mark };
    if (stat.isSymbolicLink()) return { found: { type: 'symlink', target: await readlink(await this.#made()) }, mark };
    if (stat.isDirectory()) return { found: { type: 'directory' }, mark };
    if (!stat.isFile()) return { found: { type: 'other' }, mark };
    const version = await versionOf((await this.open()).createReadStream());
    return { found: { type: 'file', version, executable: (Number(stat.mode) & 0o100) !== 0 }, mark };
  }

  /** For reading. Does not wait for the writer of a FIFO that has taken the place of a file. */
  async open(): Promise<FileHandle> {
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    return open(await this.#made(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  }

  /** Whether nothing changed here since: neither this path nor the directories above. */
  async isStill({ mark }: Look): Promise<boolean> {
    const now = await openParent(this.#root, this.#parents).catch((error: unknown) => {
      if (isElsewhere(error)) return undefined;
      throw error;
    });
    try {
      const [above, before] = [await now?.stat(), await this.#parent?.stat()];
      if ((above && identityOf(above)) !== (before && identityOf(before))) return false;
    } finally {
      await now?.close();
    }
    return markOf(await this.#stat()) === mark;
  }

  /** The same for two names of one file, where upper and lower case are one. */
  async identity(): Promise<string | undefined> {
    const stat = await this.#stat();
    return stat && identityOf(stat);
  }

  /** What is in the directory here. */
  async names(): Promise<string[]> {
    return readdir(await this.#made());
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
      await give(handle, await this.#owner());
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
    try {
      await giveAt(temporary, await this.#owner());
      return temporary;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** In the place of what is here, at once if it is no directory. A directory must be empty. */
  async replace(temporary: string): Promise<void> {
    const path = await this.#made();
    if ((await this.#stat())?.isDirectory()) await rmdir(path);
    await rename(temporary, path);
  }

  async discard(temporary: string): Promise<void> {
    await rm(temporary, { force: true });
  }

  /** A directory in the place of a file, symlink or nothing. */
  async makeDirectory(): Promise<void> {
    const path = await this.#made();
    const now = await this.#stat();
    if (now?.isDirectory()) return;
    const owner = await this.#owner();
    if (now) await rm(path);
    await mkdir(path);
    await giveAt(path, owner);
  }

  /** Removes a file, symlink or empty directory. */
  async remove(): Promise<void> {
    const path = await this.#made();
    if ((await this.#stat())?.isDirectory()) await rmdir(path);
    else await rm(path, { force: true });
  }

  /** A short name: that of the path may be as long as a name can be. */
  async #temporary(): Promise<string> {
    return join(await this.#made(), '..', temporaryName());
  }

  async #owner(): Promise<Owner | undefined> {
    return ownerOf(await this.#stat(), await (await this.#above()).stat());
  }

  /** Permission bits of the file that is replaced; other execute bits only if the new one differs in them. */
  async #mode(executable: boolean): Promise<number> {
    const now = await this.#stat();
    const old = now?.isFile() ? Number(now.mode) & 0o777 : 0o666 & ~process.umask();
    if (((old & 0o100) !== 0) === executable) return old;
    const bits = old & 0o666;
    return executable ? bits | ((bits & 0o444) >> 2) : bits;
  }
}

const isUnsafe = (part: string): boolean =>
  part === '' || part === '.' || part === '..' || part.includes('\0') || (sep === '\\' && part.includes(sep));

/** A part of the path is no directory. */
const isElsewhere = (error: unknown): boolean =>
  ['ENOTDIR', 'ELOOP'].includes(String((error as { code?: unknown }).code));

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

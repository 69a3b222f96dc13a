import { constants } from 'node:fs';
import { link } from 'node:fs/promises';
import {
  type ByteString,
  baseNameOf,
  DOT_DOT,
  fromBuffer,
  fromLatin1,
  joinNames,
  quote,
  splitPath,
  toBuffer,
} from '../byte-string.ts';
import { Directory } from '../host-tree/directory.ts';
import { MAX_LINK_TARGET_BYTES, MAX_NAME_BYTES } from '../path-limits.ts';
import { invalidImage } from './image-error.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
/** Names of a path, and names that its symbolic links may add. */
const MAX_DEPTH = 128;
const MAX_STEPS = 1024;
const NOT_A_PATH = fromLatin1('\0');

interface Found {
  isFile: boolean;
  mode: number;
  names: readonly ByteString[];
}

/** Names in an archive's path, without `.` and slashes at its ends. Throws for what no image needs. */
export function namesOf(path: ByteString): ByteString[] {
  const names = splitPath(path).filter((name) => name !== '' && name !== '.');
  if (names.includes(DOT_DOT)) throw invalidImage(`${quote(path)} contains ".."`);
  if (path.includes('\0')) throw invalidImage(`${quote(path)} contains a NUL`);
  if (names.length > MAX_DEPTH) throw invalidImage(`${quote(path)} is deeper than ${MAX_DEPTH} directories`);
  if (names.some((name) => name.length > MAX_NAME_BYTES)) {
    throw invalidImage(`${quote(path)} has more than ${MAX_NAME_BYTES} bytes in one name`);
  }
  return names;
}

/**
 * The file system of an image while it is unpacked. Its contents are hostile: symbolic links in it are resolved here,
 * name by name and within the root, and never by the kernel. What is removed goes to a directory beside it. The caller
 * closes it.
 */
export class RootTree {
  readonly #root: string;
  readonly #trash: Directory;
  #removed = 0;
  /** The directory of the last member, which the next one is likely to be in. */
  #last: { path: ByteString; directory: Directory } | undefined;

  private constructor(root: string, trash: Directory) {
    this.#root = root;
    this.#trash = trash;
  }

  /** Both are empty directories of the server, on one file system. */
  static async open(root: string, trash: string): Promise<RootTree> {
    return new RootTree(root, await Directory.open(trash));
  }

  async close(): Promise<void> {
    await this.#forget();
    await this.#trash.close();
  }

  /**
   * Runs `task` in the directory of these names, which is valid until it resolves. `create`: missing directories are
   * created, each reported to `created`; otherwise undefined if one is missing or is none.
   */
  async in<T>(
    names: readonly ByteString[],
    task: (directory: Directory) => Promise<T>,
    created?: () => void,
  ): Promise<T | undefined> {
    const path = joinNames(names);
    if (this.#last?.path !== path) {
      const directory = await this.#enter(names, created);
      await this.#forget();
      if (directory === undefined) return undefined;
      this.#last = { path, directory };
    }
    return task(this.#last!.directory);
  }

  /** Removes a name, with everything below it. */
  async remove(directory: Directory, name: ByteString): Promise<void> {
    await this.#trash.take(directory, name, fromLatin1(`${this.#removed++}`));
    // It may be on the way to the directory of the last member.
    if (this.#last !== undefined) this.#last.path = NOT_A_PATH;
  }

  /** Makes a second name of a file, outside of the root, that `take` moves to its place. */
  async link(directory: Directory, name: ByteString): Promise<ByteString> {
    const second = fromLatin1(`${this.#removed++}`);
    await link(directory.path(name), this.#trash.path(second));
    return second;
  }

  /** Moves what `link` made to a name that does not exist. */
  async take(second: ByteString, directory: Directory, name: ByteString): Promise<void> {
    await directory.take(this.#trash, second, name);
  }

  /** What the path leads to, with symbolic links followed within the root: undefined if nothing. */
  async find(path: ByteString): Promise<Found | undefined> {
    let names = namesOf(path);
    for (let hops = 0; hops < MAX_STEPS; hops++) {
      const name = names.at(-1);
      if (name === undefined) return undefined;
      const found = await this.in(names.slice(0, -1), async (directory) => {
        const stat = await directory.lstat(name);
        const link = stat?.isSymbolicLink() ? fromBuffer(await directory.readlink(name)) : undefined;
        return stat && { isFile: stat.isFile(), mode: Number(stat.mode), link };
      });
      if (found?.link === undefined) return found && { ...found, names };
      names = resolved(names.slice(0, -1), found.link);
    }
    return undefined;
  }

  /** The bytes of the file that the path leads to; undefined if there is none, or it is larger than `max`. */
  async read(path: ByteString, max: number): Promise<Buffer | undefined> {
    const found = await this.find(path);
    if (!found?.isFile) return undefined;
    return this.in(found.names.slice(0, -1), async (directory) => {
      const handle = await directory.openFile(found.names.at(-1)!);
      try {
        return (await handle.stat()).size > max ? undefined : await handle.readFile();
      } finally {
        await handle.close();
      }
    });
  }

  async #forget(): Promise<void> {
    const last = this.#last;
    this.#last = undefined;
    await last?.directory.close();
  }

  /** The caller closes the directory. */
  async #enter(names: readonly ByteString[], created?: () => void): Promise<Directory | undefined> {
    let pending = [...names];
    let real: ByteString[] = [];
    let directory = await Directory.open(this.#root);
    try {
      for (let step = 0; pending.length > 0; step++) {
        if (step > MAX_STEPS) throw invalidImage(`${quote(joinNames(names))} goes through too many symbolic links`);
        const [name, ...rest] = pending as [ByteString, ...ByteString[]];
        const stat = await directory.lstat(name);
        if (stat?.isSymbolicLink()) {
          pending = [...resolved(real, fromBuffer(await directory.readlink(name))), ...rest];
          real = [];
          await directory.close();
          directory = await Directory.open(this.#root);
          continue;
        }
        if (stat !== undefined && !stat.isDirectory()) {
          if (created === undefined) return await nothing(directory);
          throw invalidImage(`${quote(joinNames(names))} is below a name that is not a directory`);
        }
        if (stat === undefined && created === undefined) return await nothing(directory);
        if (stat === undefined) created?.();
        const next = stat === undefined ? await makeIn(directory, name) : await directory.directory(name);
        await directory.close();
        directory = next;
        real.push(name);
        pending = rest;
      }
      return directory;
    } catch (error) {
      await directory.close();
      throw error;
    }
  }
}

/** Names of the link's target, for a link in the directory of `names`; `..` at the root is the root. */
function resolved(names: readonly ByteString[], target: ByteString): ByteString[] {
  const all = target.startsWith('/') ? [] : [...names];
  for (const name of splitPath(target)) {
    if (name === '' || name === '.') continue;
    if (name === DOT_DOT) all.pop();
    else all.push(name);
  }
  if (all.length > MAX_DEPTH) throw invalidImage(`the symbolic link to ${quote(target)} leads too deep`);
  return all;
}

async function nothing(directory: Directory): Promise<undefined> {
  await directory.close();
  return undefined;
}

/** Creates a directory with the mode of all directories of images, whatever the umask. */
export async function makeIn(directory: Directory, name: ByteString): Promise<Directory> {
  await directory.makeDirectory(name);
  const made = await directory.directory(name);
  await made.chmod(0o755);
  return made;
}

/** Creates an empty file. The caller closes it. */
export function createFile(directory: Directory, name: ByteString) {
  return directory.open(name, CREATE, 0o600);
}

/** Creates a symbolic link, whose target is not looked at. */
export async function createLink(directory: Directory, name: ByteString, target: ByteString): Promise<void> {
  if (target === '' || target.includes('\0') || target.length > MAX_LINK_TARGET_BYTES) {
    throw invalidImage(`the symbolic link ${quote(baseNameOf(name))} has a target that is not allowed`);
  }
  await directory.symlink(toBuffer(target), name);
}

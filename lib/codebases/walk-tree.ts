import type { BigIntStats } from 'node:fs';
import { type ByteString, fromLatin1, joinNames, NO_BYTES, ROOT_PATH, withSlash } from '../byte-string.ts';
import type { Directory } from '../host-tree/directory.ts';
import { errorCode } from '../linux/errno.ts';
import { type ResolvedPath, resolveAll } from './resolve-path.ts';

export interface Found {
  /** Relative to the codebase root. */
  path: ByteString;
  /** Of a symlink itself. */
  stats: BigIntStats;
}

interface Item {
  name: ByteString;
  /**
   * Sort key: entries below a directory sort by their complete paths, which begin with the directory's name and a
   * slash.
   */
  key: ByteString;
  /** Stands for the entries below the directory `name`, not for the directory itself. */
  below: boolean;
  stats?: BigIntStats | undefined;
}

interface Level {
  names: readonly ByteString[];
  identity: string;
  /** The next items in order, up to the limit. */
  items: Item[];
  next: number;
  /** Whether there are more after `items`. */
  more: boolean;
}

interface Options {
  /** The directory to start in; it is not part of the result. */
  names: readonly ByteString[];
  recursive: boolean;
  /** Only entries after this path; directories completely before it are not read. */
  after?: ByteString;
  /** Maximum number of names held per directory; a larger directory is read again for the next ones. */
  hold: number;
}

/** Number of lstat calls in parallel: the thread pool's latency exceeds the time of a call. */
const BATCH = 32;

/**
 * Yields directories, regular files and symlinks below a directory in byte order of their paths (`a`, `a.txt`, `a/b`).
 * Yields nothing if the start does not exist. Holds one directory open, whatever the depth; entries that vanish
 * meanwhile are omitted.
 */
export async function* walkTree(root: string, options: Options): AsyncGenerator<Found> {
  const start = await resolveAll(root, options.names);
  if (start === undefined) return;
  let { directory } = start;
  try {
    const levels = [await readLevel(directory, options.names, options)];
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const item = level.items[level.next++];
      if (item === undefined) {
        levels.pop();
        if (level.more) levels.push(await readLevel(directory, level.names, options, level.items.at(-1)?.key));
        else directory = await ascend(root, directory, levels);
      } else if (item.below) {
        const child = await directory.directory(item.name).catch(ignoreVanished);
        if (child === undefined) continue;
        await directory.close();
        directory = child;
        levels.push(await readLevel(directory, [...level.names, item.name], options));
      } else {
        if (!('stats' in item)) await look(directory, level);
        if (item.stats !== undefined) yield { path: joinNames([...level.names, item.name]), stats: item.stats };
      }
    }
  } finally {
    await directory.close();
  }
}

/** The first items in order; with `behind`, those with a greater key. */
async function readLevel(
  directory: Directory,
  names: readonly ByteString[],
  { recursive, after = ROOT_PATH, hold }: Options,
  behind = NO_BYTES,
): Promise<Level> {
  const prefix = names.map(withSlash).join('');
  const first = new FirstItems(hold);
  try {
    for await (const entry of directory.entries()) {
      const name = fromLatin1(entry.name);
      const key = withSlash(name);
      if (!entry.isDirectory() && !entry.isFile() && !entry.isSymbolicLink()) continue;
      if (prefix + name > after && name > behind) first.add({ name, key: name, below: false });
      if (
        recursive &&
        entry.isDirectory() &&
        key > behind &&
        (prefix + key > after || after.startsWith(prefix + key))
      ) {
        first.add({ name, key, below: true });
      }
    }
  } catch (error) {
    ignoreVanished(error);
  }
  return { names, identity: directory.identity, next: 0, ...first.take() };
}

/** Selects the first items in order. */
class FirstItems {
  readonly #hold: number;
  #items: Item[] = [];
  #more = false;

  constructor(hold: number) {
    this.#hold = hold;
  }

  add(item: Item): void {
    this.#items.push(item);
    if (this.#items.length >= 2 * this.#hold) this.#cut();
  }

  take(): { items: Item[]; more: boolean } {
    this.#cut();
    return { items: this.#items, more: this.#more };
  }

  #cut(): void {
    this.#items.sort((a, b) => (a.key < b.key ? -1 : 1));
    if (this.#items.length <= this.#hold) return;
    this.#items.length = this.#hold;
    this.#more = true;
  }
}

/** Fills in the current item and the next ones. */
async function look(directory: Directory, level: Level): Promise<void> {
  const items = level.items.slice(level.next - 1, level.next - 1 + BATCH).filter((item) => !item.below);
  await Promise.all(
    items.map(async (item) => {
      item.stats = await directory.lstat(item.name);
    }),
  );
}

/** Returns from a completed directory to its parent, or further up if that has vanished, and removes its levels. */
async function ascend(root: string, done: Directory, levels: Level[]): Promise<Directory> {
  const above = levels.at(-1);
  if (above === undefined) return done;
  const parent = await done.parent(above).catch(() => undefined);
  if (parent !== undefined) {
    await done.close();
    return parent;
  }
  for (let level: Level | undefined = above; level !== undefined; level = levels.at(-1)) {
    const resolved: ResolvedPath | undefined = await resolveAll(root, level.names).catch(() => undefined);
    if (resolved?.directory.identity === level.identity) {
      await done.close();
      return resolved.directory;
    }
    await resolved?.directory.close();
    levels.pop();
  }
  return done;
}

function ignoreVanished(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR') throw error;
}

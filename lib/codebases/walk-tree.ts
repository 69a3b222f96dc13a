import type { BigIntStats } from 'node:fs';
import type { ByteString } from '../byte-string.ts';
import type { Directory } from '../host-tree/directory.ts';
import { errnoOf } from './disk-errors.ts';
import { type Reached, reachAll } from './reach.ts';

export interface Found {
  /** From the codebase root. */
  path: ByteString;
  /** Of a symlink: its own. */
  stats: BigIntStats;
}

interface Item {
  name: ByteString;
  /** As if what is below had been sorted by its whole path: every such path starts with the name and a slash. */
  key: ByteString;
  /** What is below the directory `name`, rather than the entry itself. */
  below: boolean;
  stats?: BigIntStats | undefined;
}

interface Level {
  names: readonly ByteString[];
  identity: string;
  /** The next ones in order, as many as are held at once. */
  items: Item[];
  next: number;
  /** There are more behind `items`. */
  more: boolean;
}

interface Options {
  /** The directory to start in; what is below it is found, not itself. */
  names: readonly ByteString[];
  recursive: boolean;
  /** Only what comes behind this path; whole directories before it are not read. */
  after?: ByteString | undefined;
  /** Names of one directory held at a time; one with more of them is read again for the next ones. */
  hold: number;
}

/** Looked at together: a system call costs less than the way to the thread that makes it. */
const BATCH = 32;

/**
 * Directories, regular files and symlinks below a directory in byte order of their paths (`a`, `a.txt`, `a/b`). Nothing
 * when the start is not there. Holds one directory open, however deep the tree; what vanishes meanwhile is left out.
 */
export async function* walkTree(root: string, options: Options): AsyncGenerator<Found> {
  const start = await reachAll(root, options.names);
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
        if (item.stats !== undefined) yield { path: [...level.names, item.name].join('/'), stats: item.stats };
      }
    }
  } finally {
    await directory.close();
  }
}

/** The first items in order; with `behind`, of those whose key comes behind it. */
async function readLevel(
  directory: Directory,
  names: readonly ByteString[],
  { recursive, after = '', hold }: Options,
  behind: ByteString = '',
): Promise<Level> {
  const prefix = names.map((name) => `${name}/`).join('');
  const first = new FirstItems(hold);
  try {
    for await (const entry of directory.entries()) {
      const name = entry.name;
      const key = `${name}/`;
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

/** The first few, in order, of many. */
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

/** Fills in the item just taken and those behind it. */
async function look(directory: Directory, level: Level): Promise<void> {
  const items = level.items.slice(level.next - 1, level.next - 1 + BATCH).filter((item) => !item.below);
  await Promise.all(
    items.map(async (item) => {
      item.stats = await directory.lstat(item.name);
    }),
  );
}

/** From the directory that is done to the one above, or above that when it vanished; takes its levels off too. */
async function ascend(root: string, done: Directory, levels: Level[]): Promise<Directory> {
  const above = levels.at(-1);
  if (above === undefined) return done;
  const parent = await done.parent(above).catch(() => undefined);
  if (parent !== undefined) {
    await done.close();
    return parent;
  }
  for (let level: Level | undefined = above; level !== undefined; level = levels.at(-1)) {
    const reached: Reached | undefined = await reachAll(root, level.names).catch(() => undefined);
    if (reached?.directory.identity === level.identity) {
      await done.close();
      return reached.directory;
    }
    await reached?.directory.close();
    levels.pop();
  }
  return done;
}

function ignoreVanished(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') throw error;
}

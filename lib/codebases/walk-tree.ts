import type { BigIntStats } from 'node:fs';
import type { ByteString } from '../fuse/filesystem.ts';
import type { Directory } from './directory.ts';
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
  items: Item[];
  next: number;
}

interface Options {
  /** The directory to start in; what is below it is found, not itself. */
  names: readonly ByteString[];
  recursive: boolean;
  /** Only what comes behind this path; whole directories before it are not read. */
  after?: ByteString | undefined;
}

/** Looked at together: a system call costs less than the way to the thread that makes it. */
const BATCH = 32;

/**
 * Directories, regular files and symlinks below a directory in byte order of their paths (`a`, `a.txt`, `a/b`). Nothing
 * when the start is not there. Holds one directory open, however deep the tree; what vanishes meanwhile is left out.
 */
export async function* walkTree(root: string, { names, recursive, after = '' }: Options): AsyncGenerator<Found> {
  const start = await reachAll(root, names);
  if (start === undefined) return;
  let { directory } = start;
  try {
    const levels = [await readLevel(directory, names, recursive, after)];
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const item = level.items[level.next++];
      if (item === undefined) {
        levels.pop();
        directory = await ascend(root, directory, levels);
      } else if (item.below) {
        const child = await directory.directory(item.name).catch(ignoreVanished);
        if (child === undefined) continue;
        await directory.close();
        directory = child;
        levels.push(await readLevel(directory, [...level.names, item.name], true, after));
      } else {
        if (!('stats' in item)) await look(directory, level);
        if (item.stats !== undefined) yield { path: [...level.names, item.name].join('/'), stats: item.stats };
      }
    }
  } finally {
    await directory.close();
  }
}

async function readLevel(
  directory: Directory,
  names: readonly ByteString[],
  recursive: boolean,
  after: ByteString,
): Promise<Level> {
  const prefix = names.map((name) => `${name}/`).join('');
  const items: Item[] = [];
  for (const entry of await directory.entries().catch(noneWhenVanished)) {
    const name = entry.name;
    const path = prefix + name;
    if (!entry.isDirectory() && !entry.isFile() && !entry.isSymbolicLink()) continue;
    if (path > after) items.push({ name, key: name, below: false });
    if (recursive && entry.isDirectory() && (`${path}/` > after || after.startsWith(`${path}/`))) {
      items.push({ name, key: `${name}/`, below: true });
    }
  }
  items.sort((a, b) => (a.key < b.key ? -1 : 1));
  return { names, identity: directory.identity, items, next: 0 };
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

function noneWhenVanished(error: unknown): [] {
  ignoreVanished(error);
  return [];
}

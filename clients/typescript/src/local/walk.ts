import { type Dirent, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { invalid } from '../invalid.ts';
import { Ignores } from './ignores.ts';
import { isTemporary } from './temporary.ts';
import { turns } from './turns.ts';

export interface WalkOptions {
  /**
   * Leave out what .gitignore files name: those of the directory, of the directories above it in its repository, and
   * `.git/info/exclude`. Also files that git tracks.
   */
  gitignore?: boolean | undefined;
  /** Globs of paths to leave out, as in a .gitignore file at the top. */
  exclude?: readonly string[] | undefined;
  /**
   * Send the hooks of git repositories, too. By default they are left out, because git runs them on the machine that
   * they are brought back to. Everything else of `.git` is sent, its `config` with what it contains as well.
   */
  gitHooks?: boolean | undefined;
}

/** What a path had when it was looked at. */
export interface Found {
  /** Relative path, without a slash at its end. */
  path: string;
  type: 'file' | 'directory' | 'symlink';
  /** Permission bits. */
  mode: number;
  size: number;
  /** Milliseconds since 1970, with fractions. */
  mtimeMs: number;
  ctimeMs: number;
  ino: number;
  /** Target of a symlink; empty: it is none. */
  target: string;
}

const HOOKS = /(^|\/)\.git\/(modules\/(.*\/)?)?hooks$/;

/** Throws InvalidArgumentError. */
export async function requireDirectory(directory: string): Promise<void> {
  const found = await stat(directory).catch(() => undefined);
  if (!found?.isDirectory()) throw invalid(`${directory} is not a directory`);
}

/**
 * What is below a directory, a list for each directory: itself, then what it has but directories. Lists of directories
 * come after that of the one they are in. The calls are synchronous: those that are not take five times as long.
 */
export async function* walk(
  root: string,
  { gitignore = false, exclude = [], gitHooks = false }: WalkOptions,
  signal: AbortSignal,
): AsyncGenerator<Found[], void, void> {
  await requireDirectory(root);
  const waiting: Level[] = [{ above: await Ignores.of(resolve(root), { gitignore, exclude, signal }) }];
  const turn = turns(signal);
  for (let level = waiting.pop(); level !== undefined; level = waiting.pop()) {
    const at = level.self?.path ?? '';
    const entries = namesIn(root, at);
    if (entries === undefined) continue;
    const ignores = await level.above.enter(at);
    const list = level.self ? [level.self] : [];
    const below: Level[] = [];
    for (const entry of entries) {
      await turn();
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (isTemporary(entry.name) || (!gitHooks && entry.isDirectory() && HOOKS.test(path))) continue;
      if (await ignores.has(path, entry.isDirectory())) continue;
      const found = look(root, path);
      if (found?.type === 'directory') below.push({ self: found, above: ignores });
      else if (found !== undefined) list.push(found);
    }
    waiting.push(...below.reverse());
    yield list;
  }
}

/** All of a walk. */
export interface Walked {
  lists: Found[][];
  found: ReadonlyMap<string, Found>;
}

export async function walked(root: string, options: WalkOptions, signal: AbortSignal): Promise<Walked> {
  const lists: Found[][] = [];
  const found = new Map<string, Found>();
  for await (const list of walk(root, options, signal)) {
    lists.push(list);
    for (const each of list) found.set(each.path, each);
  }
  return { lists, found };
}

interface Level {
  /** The directory; absent: the root. */
  self?: Found;
  /** Of those above it. */
  above: Ignores;
}

/** Sorted. undefined: programs that run beside have removed it. */
function namesIn(root: string, path: string): Dirent[] | undefined {
  const read = () => readdirSync(join(root, path), { withFileTypes: true });
  const entries = path === '' ? read() : unlessGone(read);
  return entries?.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** undefined: it is gone, or a socket, a FIFO or a device, which have no contents. */
function look(root: string, path: string): Found | undefined {
  const host = join(root, path);
  const stats = lstatSync(host, { throwIfNoEntry: false });
  if (stats === undefined) {
    // Other bytes are U+FFFD in a name, which then is that of no file.
    if (!path.includes('\ufffd')) return undefined;
    throw invalid(`the name of ${JSON.stringify(path)} is not UTF-8: rename it, or leave it out by exclude`);
  }
  const type = typeOf(stats);
  if (type !== 'symlink') return type && foundOf(path, type, stats);
  const target = unlessGone(() => readlinkSync(host, { encoding: 'buffer' }));
  return target && foundOf(path, type, stats, decoded(target, path));
}

/** `stats` of lstat(2), without the types of Node.js, which a program that uses this package need not have. */
export function foundOf(
  path: string,
  type: Found['type'],
  stats: Pick<Found, 'mode' | 'size' | 'mtimeMs' | 'ctimeMs' | 'ino'>,
  target = '',
): Found {
  const { mode, size, mtimeMs, ctimeMs, ino } = stats;
  return { path, type, mode: mode & 0o7777, size: type === 'file' ? size : 0, mtimeMs, ctimeMs, ino, target };
}

function typeOf(stats: Stats): Found['type'] | undefined {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSymbolicLink() ? 'symlink' : undefined;
}

function decoded(target: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(target);
  } catch {
    throw invalid(`the target of the symlink ${JSON.stringify(path)} is not UTF-8`);
  }
}

/** Programs that run beside remove files while others are read: those are left out. */
export function unlessGone<T>(find: () => T): T | undefined {
  try {
    return find();
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
}

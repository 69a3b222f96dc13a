import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { bytesOf } from './glob.ts';
import { IgnoreFile } from './ignore.ts';
import { Ignores } from './ignores.ts';
import { requireOwnRepository } from './repository.ts';
import { END, type Entry, headerOf, padding } from './tar.ts';

export interface PackOptions {
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

interface Level {
  /** Path of the directory below the root; empty: the root. */
  path: string;
  /** Patterns of the directory and of those above. */
  ignores: Ignores;
}

const CHUNK = 256 * 1024;
const HOOKS = /(^|\/)\.git\/(modules\/(.*\/)?)?hooks$/;

/** The files of a local directory as a tar archive, which can be read several times. */
export function archiveOf(directory: string, options: PackOptions = {}): () => AsyncIterable<Uint8Array> {
  return () => ({
    [Symbol.asyncIterator]() {
      const stop = new AbortController();
      const pieces = packed(directory, options, stop.signal);
      // A generator ends only at its next piece, which may be far: everything before it may be left out.
      const end = (): Promise<IteratorResult<Uint8Array, void>> => {
        stop.abort();
        return pieces.return();
      };
      return { next: () => pieces.next(), return: end };
    },
  });
}

/** Throws ENOENT or TypeError. */
export async function requireDirectory(directory: string): Promise<void> {
  if (!(await stat(directory)).isDirectory()) throw new TypeError(`${directory} is not a directory`);
}

/** Throws ENOENT or TypeError before anything is sent: for what is no directory, and for a repository that is elsewhere. */
export async function requireUpload(directory: string, { exclude = [] }: PackOptions = {}): Promise<void> {
  await requireDirectory(directory);
  if (!new IgnoreFile(bytesOf(exclude.join('\n'))).decides('.git', false)) await requireOwnRepository(directory);
}

async function* packed(
  directory: string,
  options: PackOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  await requireDirectory(directory);
  const { gitignore = false, exclude = [] } = options;
  const ignores = await Ignores.of(resolve(directory), { gitignore, exclude, signal });
  yield* walk(directory, { path: '', ignores }, options);
  yield END;
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

async function* walk(root: string, level: Level, options: PackOptions): AsyncGenerator<Uint8Array, void, void> {
  const here = join(root, level.path);
  const ignores = await level.ignores.enter(level.path);
  const read = readdir(here, { withFileTypes: true });
  const entries = level.path === '' ? await read : ((await unlessGone(read)) ?? []);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = level.path === '' ? entry.name : `${level.path}/${entry.name}`;
    const isDirectory = entry.isDirectory();
    if (!options.gitHooks && isDirectory && HOOKS.test(path)) continue;
    if (await ignores.has(path, isDirectory)) continue;
    await requireUtf8(root, path);
    if (isDirectory) {
      const found = await unlessGone(stat(join(root, path)));
      if (found === undefined) continue;
      const { mode, mtimeMs } = found;
      yield headerOf({ path, type: 'directory', mode, mtimeMs, size: 0 });
      yield* walk(root, { path, ignores }, options);
    } else if (entry.isSymbolicLink()) {
      const target = await unlessGone(targetOf(root, path));
      if (target !== undefined) yield headerOf({ path, type: 'symlink', mode: 0o777, mtimeMs: 0, size: 0, target });
    } else if (entry.isFile()) yield* fileOf(root, path);
    // Sockets, FIFOs and devices have no contents.
  }
}

/** Other bytes are U+FFFD in a name, which then is that of no file. */
async function requireUtf8(root: string, path: string): Promise<void> {
  if (!path.includes('\ufffd') || (await exists(join(root, path)))) return;
  throw new TypeError(`the name of ${JSON.stringify(path)} is not UTF-8: rename it, or leave it out by exclude`);
}

async function targetOf(root: string, path: string): Promise<string> {
  const target = await readlink(join(root, path), { encoding: 'buffer' });
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(target);
  } catch {
    throw new TypeError(`the target of the symlink ${JSON.stringify(path)} is not UTF-8`);
  }
}

/** Programs that run beside remove files while others are read: those are left out. */
function unlessGone<T>(found: Promise<T>): Promise<T | undefined> {
  return found.catch((error: { code?: unknown }) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

async function* fileOf(root: string, path: string): AsyncGenerator<Uint8Array, void, void> {
  // Not a link or FIFO that has taken its place since.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const handle = await unlessGone(open(join(root, path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (handle === undefined) return;
  try {
    const { mode, mtimeMs, size } = await handle.stat();
    const entry: Entry = { path, type: 'file', mode, mtimeMs, size };
    yield headerOf(entry);
    yield* contentsOf(handle, entry);
    yield padding(size);
  } finally {
    await handle.close();
  }
}

/** Exactly as many bytes as the header says. */
async function* contentsOf(handle: FileHandle, { path, size }: Entry): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < size; ) {
    const buffer = new Uint8Array(Math.min(CHUNK, size - at));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) throw new Error(`${path} became shorter while it was read`);
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

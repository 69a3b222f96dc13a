import { constants } from 'node:fs';
import { type FileHandle, open, readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { IgnoreFile } from './ignore.ts';
import { END, type Entry, headerOf, padding } from './tar.ts';

export interface PackOptions {
  /** Leave out what .gitignore files of the directory name, and `.git/info/exclude`. Also files that git tracks. */
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
  /** Ignore files of the directory and of those above. */
  ignores: readonly { base: string; file: IgnoreFile }[];
}

const CHUNK = 256 * 1024;
const HOOKS = /(^|\/)\.git\/(modules\/(.*\/)?)?hooks$/;

/** The files of a local directory as a tar archive, which can be read several times. */
export function archiveOf(directory: string, options: PackOptions = {}): () => AsyncIterable<Uint8Array> {
  return () => packed(directory, options);
}

/** Throws ENOENT or TypeError. */
export async function requireDirectory(directory: string): Promise<void> {
  if (!(await stat(directory)).isDirectory()) throw new TypeError(`${directory} is not a directory`);
}

async function* packed(directory: string, options: PackOptions): AsyncGenerator<Uint8Array, void, void> {
  await requireDirectory(directory);
  const excluded = (options.exclude ?? []).join('\n');
  const top = [{ base: '', file: new IgnoreFile(excluded) }];
  if (options.gitignore) top.unshift({ base: '', file: await ignoreFile(join(directory, '.git/info/exclude')) });
  yield* walk(directory, { path: '', ignores: top }, options);
  yield END;
}

async function* walk(root: string, level: Level, options: PackOptions): AsyncGenerator<Uint8Array, void, void> {
  const here = join(root, level.path);
  const ignores = [...level.ignores];
  // What `exclude` names takes precedence: it is the last one.
  if (options.gitignore) ignores.splice(-1, 0, { base: level.path, file: await ignoreFile(join(here, '.gitignore')) });
  const entries = await readdir(here, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = level.path === '' ? entry.name : `${level.path}/${entry.name}`;
    const isDirectory = entry.isDirectory();
    if (!options.gitHooks && isDirectory && HOOKS.test(path)) continue;
    if (isIgnored(path, isDirectory, ignores)) continue;
    if (isDirectory) {
      const { mode, mtimeMs } = await stat(join(root, path));
      yield headerOf({ path, type: 'directory', mode, mtimeMs, size: 0 });
      yield* walk(root, { path, ignores }, options);
    } else if (entry.isSymbolicLink()) {
      yield headerOf({
        path,
        type: 'symlink',
        mode: 0o777,
        mtimeMs: 0,
        size: 0,
        target: await readlink(join(root, path)),
      });
    } else if (entry.isFile()) yield* fileOf(root, path);
    // Sockets, FIFOs and devices have no contents.
  }
}

/** Nothing in a .git directory is ignored by a .gitignore file, but `exclude` can name it. */
function isIgnored(path: string, isDirectory: boolean, ignores: Level['ignores']): boolean {
  const inGit = /(^|\/)\.git(\/|$)/.test(path);
  for (const { base, file } of (inGit ? ignores.slice(-1) : ignores).toReversed()) {
    const decided = file.decides(base === '' ? path : path.slice(base.length + 1), isDirectory);
    if (decided !== undefined) return decided;
  }
  return false;
}

async function ignoreFile(path: string): Promise<IgnoreFile> {
  return new IgnoreFile(await readFile(path, 'utf8').catch(() => ''));
}

async function* fileOf(root: string, path: string): AsyncGenerator<Uint8Array, void, void> {
  // Not a link or FIFO that has taken its place since.
  const handle = await open(
    join(root, path),
    constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
  );
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

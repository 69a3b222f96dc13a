import { lstat, readFile, readlink, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { invalid } from '../invalid.ts';

/**
 * Throws InvalidArgumentError if the directory is a linked worktree or a submodule, whose repository is elsewhere: what is uploaded
 * would not be a repository.
 */
export async function requireOwnRepository(directory: string): Promise<void> {
  const at = await repositoryOf(join(directory, '.git'));
  if (at === undefined) return;
  const repository = resolve(directory, at);
  const isInside = async (path: string) => {
    const below = relative(await realpath(directory), path);
    return below !== '..' && !/^\.\.[/\\]/.test(below) && !isAbsolute(below);
  };
  if (await isInside(await realpath(repository).catch(() => repository))) return;
  throw invalid(
    `the .git of ${directory} is a link, and its repository is ${repository}, outside of the directory: upload the repository's main worktree, or leave .git out by exclude`,
  );
}

/** Where a file or symlink `.git` leads to; undefined: it is neither. */
async function repositoryOf(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink()) return readlink(path);
  if (!found?.isFile()) return undefined;
  return /^gitdir: (.*?)[\r\n]*$/s.exec(await readFile(path, 'utf8').catch(() => ''))?.[1];
}

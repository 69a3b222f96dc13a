import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CliError } from '../command-line/errors.ts';
import { printableName } from '../output/printable.ts';
import { Git, type Owner, ownerOf } from './git.ts';

/** The repository of a local directory, and what is asked of it once. */
export interface HostRepository {
  directory: string;
  git: Git;
  /** See `Git`. */
  owner: Owner | undefined;
  path: string | undefined;
  objects: string;
  format: string;
  shallowFile: string | undefined;
  /** Objects may be missing that only its remote has. */
  isPartial: boolean;
  /** The branch that is checked out, or "HEAD". */
  current: string;
  /** Commits and tags that its references name. */
  known: readonly string[];
}

const MOST_KNOWN = 20_000;

interface Asking {
  path: string | undefined;
  signal: AbortSignal;
}

/** undefined: the directory is not the top of a repository. Throws CliError for one whose repository is elsewhere. */
export async function repositoryOf(directory: string, { path, signal }: Asking): Promise<HostRepository | undefined> {
  const at = join(resolve(directory), '.git');
  const found = await lstat(at).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isDirectory())
    throw new CliError(
      `${printableName(at)} is a link: commits come only to the main worktree of a repository, never to a linked one`,
    );
  const owner = await ownerOf(at);
  const git = new Git({ directory: at, owner, path });
  await git.run(['version'], { signal });
  const ask = async (...args: string[]) => (await git.text(args, { signal })).trim();
  const maybe = (...args: string[]) => ask(...args).catch(() => '');
  const layout = await maybe('rev-parse', '--show-object-format', '--is-shallow-repository', '--git-path', 'objects');
  signal.throwIfAborted();
  const [format, shallow, objects] = layout.split('\n');
  if (!format || !shallow || !objects) return undefined;
  const count = `--count=${MOST_KNOWN}`;
  const kinds = ['refs/heads', 'refs/remotes', 'refs/tags'];
  const known = await ask('for-each-ref', count, '--sort=-creatordate', '--format=%(objectname)', ...kinds);
  const head = await maybe('rev-parse', '-q', '--verify', 'HEAD^{commit}');
  return {
    directory: resolve(directory),
    git,
    owner,
    path,
    objects: resolve(at, objects),
    format,
    shallowFile: shallow === 'true' ? join(at, 'shallow') : undefined,
    isPartial: (await maybe('config', '--get-regexp', '^(extensions\\.partialclone|remote\\..*\\.promisor)$')) !== '',
    current: (await maybe('symbolic-ref', '-q', '--short', 'HEAD')) || 'HEAD',
    known: [...new Set([head, ...known.split('\n')])].filter((name) => name !== ''),
  };
}

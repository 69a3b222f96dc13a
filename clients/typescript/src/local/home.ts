import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileChange } from '../contract/messages.ts';
import { LAYOUTS } from './home-table.ts';
import { runsOnSight } from './programs.ts';
import { linkRefusal, meaning, refusalOf, repositoryOf } from './refusals.ts';

/** Why something is not brought to a local directory. */
export interface Refusal {
  reason: string;
  /** The path that must be allowed for it; absent: it is never brought. */
  allow?: string | undefined;
  /** The option of `pull` that must be larger for it. */
  option?: 'maxBytes' | undefined;
}

/** Something that comes from a sandbox. */
export interface Incoming {
  path: string;
  type: 'file' | 'directory' | 'symlink';
  /** Target of a symlink. */
  target?: string | undefined;
}

export interface HomeOptions {
  /** Also what is in `.git`, except what git would run. */
  git: boolean;
  /** Paths that may come, each with everything below, although tools run them on sight or values are lost. */
  allow: readonly string[];
  /** Path of the directory in a repository that it is in. */
  within?: string | undefined;
}

/** Names that are parts of a layout, as a local file system shows them. */
const PIECES = [...new Set(LAYOUTS.flat())].map((name) => (name === 'head' ? 'HEAD' : name));

const LOSS = 'values that are here, of which the sandbox saw placeholders only, would be lost';

/**
 * What may come home from a sandbox. The threat: programs that are run here find it, and run what it names: git in any
 * directory that looks like a repository, editors and shells what has the right name.
 */
export class Home {
  readonly #root: string;
  readonly #options: HomeOptions;
  readonly #local = new Map<string, Promise<ReadonlySet<string>>>();
  /** Parts of a layout that came, by directory. */
  readonly #came = new Map<string, Set<string>>();

  constructor(root: string, options: HomeOptions) {
    this.#root = root;
    this.#options = options;
  }

  /** Whether it may come, after all that came before. undefined: it may. */
  async refusal({ path, type, target }: Incoming): Promise<Refusal | undefined> {
    const { git, within } = this.#options;
    const reason =
      refusalOf(within === undefined ? path : `${within}/${path}`, type === 'directory', git) ??
      (type === 'symlink' && target !== undefined ? linkRefusal(path, target) : undefined) ??
      (await this.#layout(path, true));
    if (reason !== undefined) return { reason };
    const program = runsOnSight(path);
    if (program === undefined || this.#isAllowed(path)) return undefined;
    return { reason: `${program.tool} would run it on sight`, allow: program.path };
  }

  /** What the sandbox has is no copy of a file whose values it did not see; the one that is here may be the only one. */
  loss({ path, losesValues }: Pick<FileChange, 'path' | 'losesValues'>): Refusal | undefined {
    return losesValues && !this.#isAllowed(path) ? { reason: LOSS, allow: path } : undefined;
  }

  #isAllowed(path: string): boolean {
    return this.#options.allow.some((each) => each === '' || isWithin(path, each));
  }

  /** Whether something here may be removed, as it was in a sandbox. */
  async removal(path: string, isDirectory: boolean): Promise<Refusal | undefined> {
    const reason = refusalOf(path, isDirectory, this.#options.git) ?? (await this.#layout(path, false));
    return reason === undefined ? undefined : { reason };
  }

  async #layout(path: string, comes: boolean): Promise<string | undefined> {
    const names = path.split('/');
    for (const [at, name] of names.entries()) {
      // What is in it was decided by that name.
      if (repositoryOf(name) !== undefined) return undefined;
      const directory = names.slice(0, at).join('/');
      const local = await this.#piecesIn(directory);
      const shown = directory === '' ? 'the directory' : JSON.stringify(directory);
      if (isRepository(local)) return `${shown} is a repository of git`;
      const piece = meaning(name);
      if (!comes || !LAYOUTS.some((layout) => layout.includes(piece))) continue;
      const came = this.#came.get(directory) ?? new Set();
      if (isRepository(new Set([...local, ...came, piece]))) return `${shown} would become a repository of git`;
      this.#came.set(directory, came.add(piece));
    }
    return undefined;
  }

  #piecesIn(directory: string): Promise<ReadonlySet<string>> {
    let found = this.#local.get(directory);
    if (found === undefined) {
      found = piecesOf(join(this.#root, directory));
      this.#local.set(directory, found);
    }
    return found;
  }
}

export const isWithin = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);

const isRepository = (pieces: ReadonlySet<string>): boolean =>
  LAYOUTS.some((layout) => layout.every((piece) => pieces.has(piece)));

async function piecesOf(directory: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const name of PIECES) {
    const there = await lstat(join(directory, name)).then(
      () => true,
      () => false,
    );
    if (there) found.add(meaning(name));
  }
  return found;
}

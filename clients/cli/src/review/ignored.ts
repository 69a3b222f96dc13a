import { posix } from 'node:path';
import type { FileChange } from '../../../typescript/src/contract/messages.ts';
import { Ignores } from '../../../typescript/src/local/ignores.ts';

/**
 * The paths of additions that the .gitignore files of the local directory leave out: outputs of builds, installed packages.
 * What the directory had before is none of them, and neither is what only the sandbox's .gitignore files name.
 */
export async function ignoredIn(
  directory: string,
  changes: readonly FileChange[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const below = new BelowDirectories(await Ignores.of(directory, { gitignore: true, exclude: [], signal }));
  const ignored = new Set<string>();
  for (const { path, kind, type } of changes) {
    if (kind !== 'CHANGE_ADDED') continue;
    const above = await below.at(parentOf(path));
    if (above === undefined || (await above.has(path, type === 'TYPE_DIRECTORY'))) ignored.add(path);
  }
  return ignored;
}

/** The patterns that hold in each directory; undefined: it is ignored with all that is in it, also one that is not new. */
class BelowDirectories {
  readonly #known: Map<string, Promise<Ignores | undefined>>;

  constructor(root: Ignores) {
    this.#known = new Map([['', root.enter('')]]);
  }

  at(path: string): Promise<Ignores | undefined> {
    const known = this.#known.get(path) ?? this.#enter(path);
    this.#known.set(path, known);
    return known;
  }

  async #enter(path: string): Promise<Ignores | undefined> {
    const above = await this.at(parentOf(path));
    return above === undefined || (await above.has(path, true)) ? undefined : above.enter(path);
  }
}

const parentOf = (path: string): string => {
  const parent = posix.dirname(path);
  return parent === '.' ? '' : parent;
};

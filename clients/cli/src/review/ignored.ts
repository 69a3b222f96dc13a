import type { FileChange } from 'paddock-sandbox';
import { Ignores } from 'paddock-sandbox/local';
import type { Context } from '../command-line/command.ts';
import { parentOf, Tracked } from '../git/tracked.ts';

/**
 * The paths of changes that the .gitignore files of the local directory leave out, outputs of builds and installed packages,
 * and that git does not track. Where git cannot tell, what was there before is none of them. Neither is what only the
 * sandbox's .gitignore files name, nor what was moved from a place that is reviewed, as it would be lost there.
 */
export async function ignoredIn(
  directory: string,
  changes: readonly FileChange[],
  { env, signal }: Pick<Context, 'env' | 'signal'>,
): Promise<ReadonlySet<string>> {
  const below = new BelowDirectories(await Ignores.of(directory, { gitignore: true, exclude: [], signal }));
  const tracked = await Tracked.in(directory, { env, signal });
  const ignored = new Set<string>();
  const removed = new Set<string>();
  for (const { path, kind, type } of changes) {
    if (kind === 'deleted') removed.add(path);
    if (tracked?.has(path) ?? kind !== 'added') continue;
    const above = await below.at(parentOf(path));
    if (above === undefined || (await above.has(path, type === 'directory'))) ignored.add(path);
  }
  const isMovedHere = ({ renamedFrom }: FileChange) => removed.has(renamedFrom) && !ignored.has(renamedFrom);
  for (const change of changes.filter(isMovedHere)) ignored.delete(change.path);
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

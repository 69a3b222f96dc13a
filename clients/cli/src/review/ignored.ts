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
  const root = await Ignores.of(directory, { gitignore: true, exclude: [], signal });
  const below = new Map<string, Promise<Ignores>>([['', root.enter('')]]);
  const inside = (path: string): Promise<Ignores> => {
    const known = below.get(path) ?? inside(parentOf(path)).then((above) => above.enter(path));
    below.set(path, known);
    return known;
  };
  const ignored = new Set<string>();
  for (const { path, kind, type } of changes) {
    if (kind !== 'CHANGE_ADDED') continue;
    const parent = parentOf(path);
    if (ignored.has(parent) || (await (await inside(parent)).has(path, type === 'TYPE_DIRECTORY'))) ignored.add(path);
  }
  return ignored;
}

const parentOf = (path: string): string => {
  const parent = posix.dirname(path);
  return parent === '.' ? '' : parent;
};

import type { Step } from '../../codebases/commits/commit-steps.ts';
import type { Contents } from '../../codebases/totals.ts';
import { forEach } from '../../long-lists.ts';
import { Subtrees } from '../../subtrees.ts';
import type { ChangeSide, OwnDirectory, WorkspaceChange } from '../../workspaces/workspaces.ts';
import { typeOf } from './shown-change.ts';
import type { Staged } from './staged.ts';

const isDirectory = (side: ChangeSide) => typeOf(side) === 'TYPE_DIRECTORY';

/** The steps that give the codebase the sandbox's state: removals from the inside out first, then additions. */
export async function stepsOf(changes: readonly WorkspaceChange[], staged: Staged): Promise<Step[]> {
  const unlinks: Step[] = [];
  const rmdirs: Step[] = [];
  const mkdirs: Step[] = [];
  const puts: Step[] = [];
  const chmods: Step[] = [];
  await forEach(changes, ({ path, now, base, contentChanged }) => {
    const nowDirectory = now !== undefined && typeOf(now) === 'TYPE_DIRECTORY';
    const wasDirectory = base !== undefined && typeOf(base) === 'TYPE_DIRECTORY';
    const mode = (now?.mode ?? 0) & 0o777;
    if (staged.isInWhole(path)) return;
    if (wasDirectory && !nowDirectory) rmdirs.push(['rmdir', path]);
    if (base !== undefined && !wasDirectory && (now === undefined || nowDirectory)) unlinks.push(['unlink', path]);
    if (now === undefined) return;
    if (staged.isWhole(path)) puts.push(['put', path, staged.nameOf(path)]);
    else if (nowDirectory && !wasDirectory) mkdirs.push(['mkdir', path, mode]);
    else if (!nowDirectory && contentChanged) puts.push(['put', path, staged.nameOf(path)]);
    else chmods.push(['chmod', path, mode]);
  });
  return [...unlinks, ...rmdirs.reverse(), ...mkdirs, ...puts, ...chmods];
}

/** The codebase has an entry at the path that the commit removes or replaces by another type. */
export function isRemoved({ now, base }: WorkspaceChange): boolean {
  return base !== undefined && (now === undefined || typeOf(now) !== typeOf(base));
}

/** What renamed directories show, in the codebase. */
export const shownElsewhere = (own: readonly OwnDirectory[]): Subtrees =>
  new Subtrees(own.flatMap(({ origin }) => origin ?? []));

/**
 * The commit adds an entry, or a directory and something else replace each other: for a moment the codebase has nothing there.
 * Not what a renamed directory still shows.
 */
export function isAdded({ path, now, base }: WorkspaceChange, shown: Subtrees): boolean {
  if (now === undefined || base === undefined) return now !== undefined;
  return isDirectory(now) !== isDirectory(base) && !shown.has(path);
}

/** The growth of the codebase by these changes. */
export async function growthOf(changes: readonly WorkspaceChange[]): Promise<Contents> {
  const growth = { files: 0, bytes: 0, directories: 0 };
  await forEach(changes, ({ now, base, contentChanged }) => {
    if (!contentChanged && now !== undefined && base !== undefined) return;
    if (base !== undefined) count(growth, base, -1);
    if (now !== undefined) count(growth, now, 1);
  });
  return growth;
}

function count(growth: Contents, side: ChangeSide, sign: 1 | -1): void {
  const type = typeOf(side);
  if (type === 'TYPE_DIRECTORY') growth.directories += sign;
  if (type !== 'TYPE_FILE' && type !== 'TYPE_SYMLINK') return;
  growth.files += sign;
  growth.bytes += sign * side.size;
}

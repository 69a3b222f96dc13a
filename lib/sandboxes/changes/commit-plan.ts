import type { ByteString } from '../../byte-string.ts';
import type { Step } from '../../codebases/commits/commit-steps.ts';
import type { Contents } from '../../codebases/totals.ts';
import { forEach } from '../../long-lists.ts';
import type { ChangeSide, OwnDirectory, WorkspaceChange } from '../../workspaces/workspaces.ts';
import { typeOf } from './list-changes.ts';
import { topOf } from './new-directories.ts';
import type { Staged } from './staged.ts';

/**
 * Divides the changes into stages. A directory renamed by the sandbox shows the files of its old path until it is
 * rebased; so additions, which include its new path, are committed and rebased first, and removals follow. (A directory
 * that replaces another one is not only an addition: for a moment it would show a partial state.)
 */
export async function inStages(
  changes: readonly WorkspaceChange[],
  own: readonly OwnDirectory[],
): Promise<WorkspaceChange[][]> {
  if (own.every(({ origin }) => origin === undefined)) return [[...changes]];
  const adding: WorkspaceChange[] = [];
  const others: WorkspaceChange[] = [];
  // A directory that replaces a file waits for the removal of the file, together with its content.
  const waiting = new Set<ByteString>();
  await forEach(changes, (change) => {
    const { path, now, base } = change;
    if (base !== undefined && now !== undefined && isDirectory(now) && !isDirectory(base)) waiting.add(path);
    (base === undefined && topOf(path, waiting) === undefined ? adding : others).push(change);
  });
  return [adding, others].filter(({ length }) => length > 0);
}

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

import { type ByteString, quote } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import { filtered, forEach } from '../../long-lists.ts';
import { Subtrees } from '../../subtrees.ts';
import type { OwnDirectory, WorkspaceChange } from '../../workspaces/workspaces.ts';
import { topOf } from './new-directories.ts';
import type { Resolution } from './resolve-conflicts.ts';
import { typeOf } from './shown-change.ts';

/**
 * A resolution that does not drop what the commit leaves out: a directory of the codebase in conflict stays one if it has
 * such entries below. Throws FAILED_PRECONDITION for another reverted path that has them, or that is in a directory whose removal
 * is left out. `all`: the changes, with those that are left out: the others are at or below `chosen`.
 */
export async function keepingLeft(
  resolution: Resolution,
  all: readonly WorkspaceChange[],
  own: readonly OwnDirectory[],
  chosen: readonly ByteString[],
): Promise<Resolution> {
  const tops = new Set(resolution.reverted);
  if (tops.size === 0) return resolution;
  const subtrees = new Subtrees(chosen);
  const leftOut = await filtered(all, ({ path, left }) => left !== undefined || !subtrees.has(path));
  await refuseInGone(resolution, all);
  const moved = new Set(own.flatMap(({ path, origin }) => [path, origin]));
  const reverted = await filtered(all, ({ path }) => tops.has(path));
  const mayStay = new Set(
    reverted.filter((change) => isKeptDirectory(change) && !moved.has(change.path)).map(({ path }) => path),
  );
  const staying = new Set<string>();
  await forEach(leftOut, ({ path, now }) => {
    const top = now && topOf(path, tops);
    if (top === undefined) return;
    if (!mayStay.has(top)) {
      const why = `"theirs" reverts ${quote(top)} with everything below, but ${quote(path)} is left out`;
      throw new ServiceError('FAILED_PRECONDITION', `on_conflict: ${why}; leave out both or neither`);
    }
    staying.add(top);
  });
  return { ...resolution, reverted: resolution.reverted.filter((path) => !staying.has(path)) };
}

/** Throws FAILED_PRECONDITION for a reverted path in a directory that the sandbox removed or replaced by a file, and that stays so. */
async function refuseInGone({ committed, reverted }: Resolution, all: readonly WorkspaceChange[]): Promise<void> {
  const changed = new Set([...committed.map(({ path }) => path), ...reverted]);
  const stays = ({ path, now }: WorkspaceChange) => (now && typeOf(now)) !== 'TYPE_DIRECTORY' && !changed.has(path);
  const gone = new Set((await filtered(all, stays)).map(({ path }) => path));
  await forEach(reverted, (path) => {
    const top = topOf(path, gone);
    if (top === undefined) return;
    const why = `"theirs" reverts ${quote(path)}, but ${quote(top)}, which the sandbox removed or replaced, is left out`;
    throw new ServiceError('FAILED_PRECONDITION', `on_conflict: ${why}; leave out both or neither`);
  });
}

/** Both the codebase and the sandbox have a directory, and only its attributes are in conflict. */
function isKeptDirectory({ base, now, conflict }: WorkspaceChange): boolean {
  return conflict && [base, now].every((side) => side !== undefined && typeOf(side) === 'TYPE_DIRECTORY');
}

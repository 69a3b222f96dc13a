import { type ByteString, joinPath, parentOf, sliceOf } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { isBaseDirectory } from '../base/merged-base.ts';
import type { Inode } from '../delta/index/inode.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { RebaseStage } from '../workspaces.ts';
import { renamedDirectories } from './renamed-directories.ts';

/** A directory of the delta that shows a base directory at another path, or is to show another one. */
interface Moved {
  dir: Inode;
  path: ByteString;
  /** The base directory that has what it showed, if that is another one after the commit. */
  committedAt: ByteString | undefined;
}

/** By the paths of the base directories that they show. */
export type MovedDirectories = ReadonlyMap<ByteString, readonly Moved[]>;

/**
 * Returns the directories that show base directories at other paths: programs may rename a directory during its commit. A
 * directory that was renamed before the commit is in the base at its new path, with all that it showed: so are those that
 * came from it since.
 */
export function* movedDirectories(
  workspace: LayeredWorkspace,
  stage: RebaseStage,
  { committed, renamed, isRenamed }: CommittedDirectories,
): Steps<MovedDirectories> {
  const moved = new Map<ByteString, Moved[]>();
  if (!workspace.hasMoved && !stage.resumed && !isRenamed) return moved;
  const originOf = ({ id }: Inode, origin: ByteString) => committed.get(id) ?? relocated(workspace, origin, renamed);
  // One that the sandbox created is merged with the base in the directory that has the new origin.
  for (const { id, path, origin: base } of yield* renamedDirectories(workspace, originOf)) {
    if (base === undefined) continue;
    const dir = workspace.delta.table.require(id);
    const changes = dir.origin !== undefined && base !== dir.origin;
    if (base === path && !changes) continue;
    const known = moved.get(base) ?? [];
    known.push({ dir, path, committedAt: changes ? base : undefined });
    moved.set(base, known);
  }
  return moved;
}

interface CommittedDirectories {
  /** The paths of the sandbox's own directories in this stage, by their ids. */
  committed: Map<number, ByteString>;
  /** The paths of those that showed a base directory, by its path. */
  renamed: Map<ByteString, ByteString>;
  /** One of them is another path. */
  isRenamed: boolean;
}

export function* committedDirectories(
  { delta }: LayeredWorkspace,
  { paths }: RebaseStage,
): Steps<CommittedDirectories> {
  const committed = new Map<number, ByteString>();
  const renamed = new Map<ByteString, ByteString>();
  let isRenamed = false;
  for (const { path, version } of paths) {
    yield;
    const inode = version === undefined ? undefined : delta.table.find(version[0]);
    if (inode?.isDirectory !== true) continue;
    committed.set(inode.id, path);
    if (inode.origin !== undefined) renamed.set(inode.origin, path);
    isRenamed ||= inode.origin !== undefined && inode.origin !== path;
  }
  return { committed, renamed, isRenamed };
}

/** The path at which the base has a directory that was shown at or below a renamed one. */
function relocated(
  { base }: LayeredWorkspace,
  origin: ByteString,
  renamed: ReadonlyMap<ByteString, ByteString>,
): ByteString {
  for (let top = origin; top !== ''; top = parentOf(top)) {
    const path = renamed.get(top);
    if (path === undefined) continue;
    const at = top === origin ? path : joinPath(path, sliceOf(origin, top.length + 1));
    return isBaseDirectory(base, at) ? at : origin;
  }
  return origin;
}

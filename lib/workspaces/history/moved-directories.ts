import type { ByteString } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import type { Inode } from '../delta/index/inode.ts';
import type { Workspace } from '../workspace.ts';
import type { RebaseStage } from '../workspaces.ts';
import { renamedDirectories } from './renamed-directories.ts';

/** A directory of the delta that shows a base directory at another path. */
interface Moved {
  dir: Inode;
  path: ByteString;
  /** It is committed, at this path: there the base has what it showed. */
  committedAt: ByteString | undefined;
}

/** By the paths of the base directories that they show. */
export type MovedDirectories = ReadonlyMap<ByteString, readonly Moved[]>;

/** Returns the directories that show base directories at other paths: programs may rename a directory during its commit. */
export function* movedDirectories(workspace: Workspace, { paths, resumed }: RebaseStage): Steps<MovedDirectories> {
  const moved = new Map<ByteString, Moved[]>();
  if (!workspace.hasMoved && !resumed) return moved;
  const committed = new Map<number, ByteString>();
  for (const { path, version } of paths) {
    if (version !== undefined) committed.set(version[0], path);
    yield;
  }
  for (const { id, path, origin } of yield* renamedDirectories(workspace, committed)) {
    if (origin === undefined) continue;
    const dir = workspace.delta.table.require(id);
    // One that the sandbox created showed nothing of the base.
    const committedAt = dir.origin === undefined ? undefined : committed.get(id);
    const base = committedAt ?? origin;
    if (base === path) continue;
    const known = moved.get(base) ?? [];
    known.push({ dir, path, committedAt });
    moved.set(base, known);
  }
  return moved;
}

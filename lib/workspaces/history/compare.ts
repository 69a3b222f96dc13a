import type { ByteString } from '../../byte-string.ts';
import { isDirectory, S_IFLNK, S_IFMT, S_IFREG } from '../../linux/mode.ts';
import type { BaseStat } from '../base/base.ts';
import type { Workspace } from '../workspace.ts';
import type { WorkspaceChange } from '../workspaces.ts';
import { modeOf, type Present, targetOf } from './present.ts';
import { isSame, PERMISSIONS, sameMode } from './same-as-base.ts';

/**
 * Returns the change at a path: `now` in the sandbox, `was` in the base. undefined: they are equal. `sameBytes`: whether two
 * files of equal size have the same contents, if it is known.
 */
export function* compare(
  workspace: Workspace,
  path: ByteString,
  now: Present | undefined,
  was: BaseStat | undefined,
  sameBytes?: boolean,
): Generator<undefined, Omit<WorkspaceChange, 'conflict' | 'level' | 'writable' | 'hidden'> | undefined, void> {
  if (now === undefined) return was && { path, kind: 'deleted', contentChanged: true, base: sideOf(was) };
  const present = { ...sideOf(now.inode ?? now.base!), ...contentsOf(workspace, now) };
  const movedFrom = movedFromOf(workspace, path, now);
  const moved = movedFrom !== undefined && { movedFrom };
  if (was === undefined) {
    const renamedFrom = originOf(workspace, path, now);
    return {
      ...moved,
      path,
      kind: 'added',
      contentChanged: true,
      now: present,
      ...(renamedFrom !== undefined && { renamedFrom }),
    };
  }
  const contentChanged = !(yield* isSame(workspace, path, now, was, sameBytes));
  if (!contentChanged && sameMode(present.mode, was.mode)) return undefined;
  return { ...moved, path, kind: 'modified', contentChanged, now: present, base: sideOf(was) };
}

function contentsOf(
  workspace: Workspace,
  now: Present,
): Pick<NonNullable<WorkspaceChange['now']>, 'target' | 'hostFile' | 'small' | 'version'> {
  const type = modeOf(now) & S_IFMT;
  const { inode, basePath } = now;
  if (type === S_IFLNK) {
    return { target: targetOf(workspace, now), ...(inode && { version: [inode.id, inode.writes] as const }) };
  }
  if (type !== S_IFREG) return {};
  if (inode === undefined) return { hostFile: workspace.base.hostFile(basePath!, now.base!) };
  const version = [inode.id, inode.writes] as const;
  return inode.hasFile ? { version, hostFile: workspace.delta.hostFile(inode) } : { version, small: true };
}

/**
 * Returns the base path at which the sandbox first changed what it has here, if different. A copied-up file keeps the
 * inode number of the base.
 */
function movedFromOf({ delta }: Workspace, path: ByteString, { inode }: Present): ByteString | undefined {
  if (inode === undefined || inode.isDirectory) return undefined;
  const { baseVersions } = delta.table;
  // Most are where they were: to build a path takes longer than to find it.
  if (baseVersions.get(path)?.[0] === inode.ino) return undefined;
  const from = baseVersions.pathOf(inode.ino);
  return from === path ? undefined : from;
}

/** Returns the base path of what the sandbox has here, if the sandbox removed it there. */
function originOf(workspace: Workspace, path: ByteString, { inode, basePath }: Present): ByteString | undefined {
  if (basePath !== undefined) return basePath === path ? undefined : basePath;
  if (inode === undefined) return undefined;
  return workspace.delta.table.baseVersions.pathOf(inode.ino);
}

export function sideOf({ mode, size, mtime }: Pick<BaseStat, 'mode' | 'size' | 'mtime'>) {
  const directory = isDirectory(mode);
  return { mode: mode & (S_IFMT | PERMISSIONS), size: directory ? 0 : size, mtime };
}

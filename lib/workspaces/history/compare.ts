import type { ByteString } from '../../byte-string.ts';
import { isDirectory, S_IFLNK, S_IFMT, S_IFREG } from '../../linux/mode.ts';
import { NONE } from '../../permissions/index.ts';
import type { BaseStat } from '../base/base.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { WorkspaceChange } from '../workspaces.ts';
import { type Present, targetOf } from './present.ts';
import { isSame, PERMISSIONS, sameMode } from './same-as-base.ts';

/**
 * Returns the change at a path that only one side has; the caller rates it (`level` and what follows it). Fields are set one
 * by one: a literal of spread parts is several times as large, and a sandbox can have a million changes.
 */
export function oneSided(
  workspace: LayeredWorkspace,
  path: ByteString,
  now: Present | undefined,
  was: BaseStat | undefined,
): WorkspaceChange | undefined {
  if (now === undefined) {
    if (was === undefined) return undefined;
    return {
      path,
      kind: 'deleted',
      contentChanged: true,
      conflict: false,
      level: NONE,
      writable: false,
      base: sideOf(was),
    };
  }
  const change: WorkspaceChange = {
    path,
    kind: 'added',
    contentChanged: true,
    conflict: false,
    level: NONE,
    writable: false,
    now: presentSide(workspace, now),
  };
  const movedFrom = movedFromOf(workspace, path, now);
  const renamedFrom = originOf(workspace, path, now);
  if (movedFrom !== undefined) change.movedFrom = movedFrom;
  if (renamedFrom === undefined) return change;
  change.renamedFrom = renamedFrom;
  const origin = now.inode && isFile(now.inode) ? workspace.base.lstat(renamedFrom) : undefined;
  if (origin !== undefined && isFile(origin))
    change.origin = { base: sideOf(origin), level: workspace.stateOf(renamedFrom).level };
  return change;
}

const isFile = ({ mode }: { mode: number }): boolean => (mode & S_IFMT) === S_IFREG;

/**
 * As `oneSided`, at a path that both sides may have: `now` in the sandbox, `was` in the base. undefined: they are equal.
 * `sameBytes`: whether two files of equal size have the same contents, if it is known.
 */
export function* compare(
  workspace: LayeredWorkspace,
  path: ByteString,
  now: Present | undefined,
  was: BaseStat | undefined,
  sameBytes?: boolean,
): Generator<undefined, WorkspaceChange | undefined, void> {
  if (now === undefined || was === undefined) return oneSided(workspace, path, now, was);
  const present = presentSide(workspace, now);
  const contentChanged = !(yield* isSame(workspace, path, now, was, sameBytes));
  if (!contentChanged && sameMode(present.mode, was.mode)) return undefined;
  const movedFrom = movedFromOf(workspace, path, now);
  const unrated = { conflict: false, level: NONE, writable: false };
  const change: WorkspaceChange = {
    path,
    kind: 'modified',
    contentChanged,
    ...unrated,
    now: present,
    base: sideOf(was),
  };
  if (movedFrom !== undefined) change.movedFrom = movedFrom;
  const renamedFrom = now.basePath === undefined || now.basePath === path ? movedFrom : now.basePath;
  if (renamedFrom !== undefined) change.renamedFrom = renamedFrom;
  return change;
}

function presentSide(workspace: LayeredWorkspace, now: Present): NonNullable<WorkspaceChange['now']> {
  const { inode, base, basePath } = now;
  const side: NonNullable<WorkspaceChange['now']> = sideOf(inode ?? base!);
  const type = side.mode & S_IFMT;
  if (type === S_IFLNK) side.target = targetOf(workspace, now);
  else if (type !== S_IFREG) return side;
  else if (inode === undefined) side.hostFile = workspace.base.hostFile(basePath!, base!);
  else if (inode.hasFile) side.hostFile = workspace.delta.hostFile(inode);
  else side.small = true;
  if (inode !== undefined) side.version = [inode.id, inode.writes];
  return side;
}

/**
 * Returns the base path at which the sandbox first changed what it has here, if different. A copied-up file keeps the
 * inode number of the base.
 */
function movedFromOf({ delta }: LayeredWorkspace, path: ByteString, { inode }: Present): ByteString | undefined {
  if (inode === undefined || inode.isDirectory) return undefined;
  const { baseVersions } = delta.table;
  // Most are where they were: to build a path takes longer than to find it.
  if (baseVersions.get(path)?.[0] === inode.ino) return undefined;
  const from = baseVersions.pathOf(inode.ino);
  return from === path ? undefined : from;
}

/** Returns the base path of what the sandbox has here, if the sandbox removed it there. */
function originOf(workspace: LayeredWorkspace, path: ByteString, { inode, basePath }: Present): ByteString | undefined {
  if (basePath !== undefined) return basePath === path ? undefined : basePath;
  if (inode === undefined) return undefined;
  return workspace.delta.table.baseVersions.pathOf(inode.ino);
}

export function sideOf({ mode, size, mtime }: Pick<BaseStat, 'mode' | 'size' | 'mtime'>) {
  const directory = isDirectory(mode);
  return { mode: mode & (S_IFMT | PERMISSIONS), size: directory ? 0 : size, mtime };
}

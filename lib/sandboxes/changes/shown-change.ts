import { toText } from '../../byte-string.ts';
import type { ChangeKind, FileChange, FileType } from '../../contract/messages.ts';
import type { ChangeSide, WorkspaceChange } from '../../workspaces/workspaces.ts';

const KINDS: Readonly<Record<WorkspaceChange['kind'], ChangeKind>> = {
  added: 'CHANGE_ADDED',
  modified: 'CHANGE_MODIFIED',
  deleted: 'CHANGE_DELETED',
};

const TYPES: ReadonlyMap<number, FileType> = new Map([
  [0o100000, 'TYPE_FILE'],
  [0o040000, 'TYPE_DIRECTORY'],
  [0o120000, 'TYPE_SYMLINK'],
]);

const CONTENT_TYPES: ReadonlySet<FileType> = new Set(['TYPE_FILE', 'TYPE_SYMLINK']);

/** A change in the form of the API: sizes in bytes, modes without type bits, 0 for a side that is absent. */
export function shownChange({
  path,
  kind,
  contentChanged,
  now,
  base,
  renamedFrom,
  conflict,
  scratch = false,
}: WorkspaceChange): FileChange {
  const type = typeOf(now ?? base);
  // Otherwise it has an inode of its own.
  const cameAlong = renamedFrom !== undefined && now?.version === undefined && CONTENT_TYPES.has(type);
  return {
    path: toText(path),
    kind: KINDS[kind],
    type,
    size: now?.size ?? 0,
    base_size: base?.size ?? 0,
    mode: (now?.mode ?? 0) & 0o777,
    base_mode: (base?.mode ?? 0) & 0o777,
    base_type: typeOf(base ?? now),
    content_changed: contentChanged,
    conflict,
    scratch,
    renamed_from: renamedFrom === undefined ? '' : toText(renamedFrom),
    came_along: cameAlong,
  };
}

/** The file type of one side of a change; TYPE_OTHER if there is none. */
export function typeOf(side: ChangeSide | undefined): FileType {
  return TYPES.get((side?.mode ?? 0) & 0o170000) ?? 'TYPE_OTHER';
}

import { toText } from '../../byte-string.ts';
import type { ChangeKind, FileChange, FileType } from '../../contract/messages.ts';
import { isRedactedLevel } from '../../permissions/index.ts';
import { MAX_REDACTED_BYTES } from '../../redaction/redacted-form.ts';
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
  const isMoved = kind === 'added' && renamedFrom !== undefined;
  const cameAlong = isMoved && now?.version === undefined && CONTENT_TYPES.has(type);
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
    loses_values: false,
  };
}

/** The same for the owner. The agent must not learn which of its texts a commit gives the values: it could guess them. */
export function ownersChange(change: WorkspaceChange): FileChange {
  return { ...shownChange(change), loses_values: losesValues(change) };
}

function losesValues({ now, base, level, contentChanged }: WorkspaceChange): boolean {
  if (!isRedactedLevel(level) || typeOf(base) !== 'TYPE_FILE') return false;
  if (now?.isText === true) return now.losesValues === true;
  if (typeOf(now) !== 'TYPE_FILE') return true;
  // If one of them is too large to be understood, the agent's text is stored as it is.
  return contentChanged && Math.max(now!.size, base!.size) > MAX_REDACTED_BYTES;
}

/** The file type of one side of a change; TYPE_OTHER if there is none. */
export function typeOf(side: ChangeSide | undefined): FileType {
  return TYPES.get((side?.mode ?? 0) & 0o170000) ?? 'TYPE_OTHER';
}

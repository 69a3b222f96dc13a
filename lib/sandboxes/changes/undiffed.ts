import type { FileDiff } from '../../contract/messages.ts';
import type { Actor } from '../../field-values.ts';
import { isRedactedLevel, READ } from '../../permissions/index.ts';
import { MAX_COMPARED, without } from '../../text-tools/file-diff.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';
import { typeOf } from './shown-change.ts';

/** A file that is modified, or renamed and possibly modified. */
export function isComparedFile(change: WorkspaceChange): boolean {
  const sides = [change.now, comparedWith(change).base];
  return change.contentChanged && sides.every((side) => side !== undefined && typeOf(side) === 'TYPE_FILE');
}

/** The place and state of the codebase's file that a compared file is compared with. */
export function comparedWith({
  path,
  base,
  renamedFrom,
  origin,
}: WorkspaceChange): Pick<WorkspaceChange, 'path' | 'base'> {
  return origin === undefined ? { path, ...(base && { base }) } : { path: renamedFrom!, base: origin.base };
}

/** The diff of a compared file that is not compared by lines; undefined: it is to be compared. */
export function undiffed(change: WorkspaceChange, as: Actor | ''): FileDiff | undefined {
  const { now, level, origin } = change;
  const levels = [level, origin?.level ?? level];
  if (levels.some(isRedactedLevel) || now!.isText) return without('placeholders');
  if (as === 'agent' && levels.some((each) => each < READ)) return without('unreadable');
  return Math.max(now!.size, comparedWith(change).base!.size) > MAX_COMPARED ? without('large') : undefined;
}

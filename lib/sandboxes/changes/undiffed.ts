import type { FileDiff } from '../../contract/messages.ts';
import type { Actor } from '../../field-values.ts';
import { isRedactedLevel, READ } from '../../permissions/index.ts';
import { MAX_COMPARED, without } from '../../text-tools/file-diff.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';
import { typeOf } from './shown-change.ts';

export function isModifiedFile({ now, base, contentChanged }: WorkspaceChange): boolean {
  return contentChanged && [now, base].every((side) => side !== undefined && typeOf(side) === 'TYPE_FILE');
}

/** The diff of a modified file that is not compared by lines; undefined: it is to be compared. */
export function undiffed({ now, base, level }: WorkspaceChange, as: Actor | ''): FileDiff | undefined {
  if (isRedactedLevel(level) || now!.isText) return without('placeholders');
  if (as === 'agent' && level < READ) return without('unreadable');
  return Math.max(now!.size, base!.size) > MAX_COMPARED ? without('large') : undefined;
}

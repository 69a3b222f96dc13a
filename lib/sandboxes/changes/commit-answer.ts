import { toText } from '../../byte-string.ts';
import type { CommitResponse } from '../../contract/messages.ts';
import { filtered } from '../../long-lists.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';
import { ownersChange } from './shown-change.ts';

/** Maximum number of changes that a list of an answer or an error names, and of bytes of their paths. */
const NAMED = 1000;
const NAMED_BYTES = 1024 * 1024;

/** The answer to a commit of `selected`; `changes` are those among which conflicts are looked for. */
export async function answer(
  changes: readonly WorkspaceChange[],
  selected: readonly WorkspaceChange[],
  committed: boolean,
): Promise<CommitResponse> {
  const conflicts = await filtered(changes, ({ conflict }) => conflict);
  return {
    committed,
    count: selected.length,
    changes: named(selected).map(ownersChange),
    conflicts: namedPaths(conflicts),
  };
}

/** Paths of the first changes: a client drops an answer that is larger than it takes, although the commit was made. */
export function namedPaths(changes: readonly WorkspaceChange[]): string[] {
  return named(changes).map(({ path }) => toText(path));
}

function named(changes: readonly WorkspaceChange[]): WorkspaceChange[] {
  const first: WorkspaceChange[] = [];
  let bytes = 0;
  for (const change of changes.slice(0, NAMED)) {
    const { path, renamedFrom } = change;
    bytes += Buffer.byteLength(toText(path)) + (renamedFrom ? Buffer.byteLength(toText(renamedFrom)) : 0);
    if (bytes > NAMED_BYTES) break;
    first.push(change);
  }
  return first;
}

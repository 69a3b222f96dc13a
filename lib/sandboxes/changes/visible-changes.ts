import { isRedactedLevel, type Level, NONE, type RuleSet } from '../../permissions/index.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';

/** The changes at which the rules grant at least `level`, without hidden paths in them. */
export function visibleChanges(changes: readonly WorkspaceChange[], level: Level, rules: RuleSet): WorkspaceChange[] {
  return changes
    .filter((change) => !change.hidden && change.level >= level)
    .map(withoutSizes)
    .map(({ renamedFrom, origin, ...change }) =>
      renamedFrom === undefined || rules.state(renamedFrom).level === NONE
        ? change
        : { ...change, renamedFrom, ...(origin && { origin }) },
    );
}

/** The sizes of a redacted file are those of the originals, and would show how long its values are. */
function withoutSizes(change: WorkspaceChange): WorkspaceChange {
  if (!isRedactedLevel(change.level)) return change;
  const { now, base } = change;
  return { ...change, ...(now && { now: { ...now, size: 0 } }), ...(base && { base: { ...base, size: 0 } }) };
}

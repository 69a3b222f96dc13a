import { type Level, NONE, type RuleSet } from '../../permissions/index.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';

/** The changes at which the rules grant at least `level`, without hidden paths in them. */
export function visibleChanges(changes: readonly WorkspaceChange[], level: Level, rules: RuleSet): WorkspaceChange[] {
  return changes
    .filter((change) => !change.hidden && change.level >= level)
    .map(({ renamedFrom, ...change }) =>
      renamedFrom === undefined || rules.state(renamedFrom).level === NONE ? change : { ...change, renamedFrom },
    );
}

import type { PermissionExplanation, Sandbox } from '../../contract/messages.ts';
import { wordOf } from '../../errors.ts';
import { missing } from '../../not-found.ts';
import { levelOf, NONE } from '../../permissions/index.ts';

/**
 * A sandbox without what can name a hidden path: its rules, the error of an automatic commit, and its labels, which are
 * free text of the owner. `status_reason` has texts of this service only, and none of them names a file.
 */
export function agentView(sandbox: Sandbox): Sandbox {
  return { ...sandbox, permissions: [], labels: {}, auto_commit_error: '' };
}

/**
 * An explanation without the rules that lose, whose patterns can name hidden paths. Throws NOT_FOUND for a path whose
 * permission is NONE, whether or not there is a file.
 */
export function agentExplanation(explanation: PermissionExplanation): PermissionExplanation {
  const { path, permission } = explanation;
  if (levelOf(permission) === NONE) {
    throw missing('file', path, `${JSON.stringify(path)} is not visible to the sandbox's commands`);
  }
  return { ...explanation, beaten: [], reason: `A rule grants ${wordOf(permission)} at this path.` };
}

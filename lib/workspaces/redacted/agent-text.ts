import { EACCES } from '../../linux/errno.ts';
import { S_IFREG } from '../../linux/mode.ts';
import { isRedactedLevel, MERGED, type RuleState, WRITE } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';
import { mayTakeAsText, redactedForm } from './redacted-file.ts';

/**
 * Called before a node is changed, moved or linked. With MERGED a base file is copied up as the agent sees it, never as it
 * is. Throws EACCES without WRITE, for a file of which nothing is shown or whose form is too large for a slot, Postponed
 * and host errors.
 */
export function requireChangeable(workspace: Workspace, access: Access, node: Node): void {
  if (access.level(node) === MERGED) {
    if (!mayTakeAsText(workspace, node)) throw EACCES;
    const { bytes } = redactedForm(workspace, node);
    workspace.stored.contents.makeText(node, bytes);
  }
  if (access.level(node) < WRITE) throw EACCES;
}

/** Called before a file is written: under a rule that shows values, they may be among what is written. */
export function leaveText({ stored }: Workspace, node: Node): void {
  if (node.isAgentText && !isRedactedLevel(node.agentLevel)) stored.contents.leaveText(node);
}

/**
 * Throws EACCES for a file at a MERGED path that may not be removed or replaced: nothing of it is shown, or its values are
 * nowhere else.
 */
export function requireReplaceable(workspace: Workspace, access: Access, state: RuleState, node: Node): void {
  if (state.level !== MERGED || node.type !== S_IFREG || access.level(node) === WRITE) return;
  if (access.level(node) !== MERGED || redactedForm(workspace, node).isHidden) throw EACCES;
}

/** Whether a file that gets a name with these rules is the agent's text: only if the agent may read all that it has. */
export function isTextAt(state: RuleState, type: number): boolean {
  return state.level === MERGED && type === S_IFREG;
}

import { EACCES } from '../../linux/errno.ts';
import { S_IFREG } from '../../linux/mode.ts';
import { isRedactedLevel, MERGED, type RuleState, WRITE } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import type { Inode } from '../delta/index/inode.ts';
import { Change } from '../history/change.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';
import { keysOf } from './placeholder-keys.ts';
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
    Change.make(workspace, (change) => markAsText(workspace, change, change.nodeWith(node, bytes)));
  }
  if (access.level(node) < WRITE) throw EACCES;
}

/** Called before a file is written: under a rule that shows values, they may be among what is written. */
export function leaveText(workspace: Workspace, { agentLevel }: Node, inode: Inode): void {
  if (!inode.isAgentText || isRedactedLevel(agentLevel)) return;
  Change.make(workspace, (change) => change.untext(inode.id));
}

/**
 * Throws EACCES for a file at a MERGED path that may not be removed or replaced: nothing of it is shown, or its values are
 * nowhere else.
 */
export function requireReplaceable(workspace: Workspace, access: Access, state: RuleState, node: Node): void {
  if (state.level !== MERGED || node.type !== S_IFREG || access.level(node) === WRITE) return;
  if (access.level(node) !== MERGED || redactedForm(workspace, node).isHidden) throw EACCES;
}

/** Stages that a file is the agent's text (`Inode.isAgentText`): only if the agent may read all that it has. */
function markAsText(workspace: Workspace, change: Change, id: number): void {
  const { key } = keysOf(workspace);
  const { placeholderKeys } = workspace.delta.table;
  change.text(id, placeholderKeys.includes(key) ? [] : [key]);
}

/** As `markAsText`, of a file that gets a name at which the rules are `state`. */
export function markAt(workspace: Workspace, change: Change, state: RuleState, id: number, type: number): void {
  if (state.level === MERGED && type === S_IFREG) markAsText(workspace, change, id);
}

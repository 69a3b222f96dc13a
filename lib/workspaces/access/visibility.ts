import { ENOENT, ESTALE } from '../../linux/errno.ts';
import { type RuleState, VIEW } from '../../permissions/index.ts';
import type { Node } from '../nodes/node.ts';

/** Listed and stat'able: by its own level or, for a directory, to pass through to what is. */
export function isVisible(state: RuleState, directory: boolean): boolean {
  return state.level >= VIEW || (directory && state.visibleBelow);
}

export function isVisibleNode(node: Node): boolean {
  return node.level >= VIEW || (node.isDirectory && (node.ownRule.visibleBelow || node.parent === undefined));
}

/** Throws for what is hidden: ESTALE makes a kernel that still has its name look it up again, and find nothing. */
export function requireVisible(node: Node): void {
  if (!isVisibleNode(node)) throw node.stale ? ESTALE : ENOENT;
}

import { ENOENT, ESTALE } from '../../linux/errno.ts';
import { type RuleState, VIEW } from '../../permissions/index.ts';
import type { Node } from '../nodes/node.ts';
import { type Access, ownRule } from './access.ts';

/** Listed and stat'able: by its own level or, for a directory, to pass through to what is. */
export function isVisible(state: RuleState, directory: boolean): boolean {
  return state.level >= VIEW || (directory && state.visibleBelow);
}

export function isVisibleNode(access: Access, node: Node): boolean {
  if (access.level(node) >= VIEW) return true;
  return node.isDirectory && (ownRule(access, node).visibleBelow || node.parent === undefined);
}

/** Throws for what is hidden: ESTALE makes a kernel that still has its name look it up again, and find nothing. */
export function requireVisible(access: Access, node: Node): void {
  if (!isVisibleNode(access, node)) throw node.stale ? ESTALE : ENOENT;
}

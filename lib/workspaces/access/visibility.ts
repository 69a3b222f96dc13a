import { ENOENT, ESTALE } from '../../linux/errno.ts';
import { type RuleState, VIEW } from '../../permissions/index.ts';
import type { Node } from '../nodes/node.ts';
import { type Access, ownRule } from './access.ts';

/**
 * Whether a path is visible, for listings and stat: by its own level, or for a directory also as the parent of a
 * visible path.
 */
export function isVisible(state: RuleState, directory: boolean): boolean {
  return state.level >= VIEW || (directory && state.visibleBelow);
}

/** Whether a node is visible; the root always is. */
export function isVisibleNode(access: Access, node: Node): boolean {
  if (access.level(node) >= VIEW) return true;
  return node.isDirectory && (ownRule(access, node).visibleBelow || node.parent === undefined);
}

/**
 * Throws ENOENT for a hidden node, or ESTALE if the kernel still has a dentry of it: the kernel then looks the name up
 * again and gets ENOENT.
 */
export function requireVisible(access: Access, node: Node): void {
  if (!isVisibleNode(access, node)) throw node.staleDentry ? ESTALE : ENOENT;
}

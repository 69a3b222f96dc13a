import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';

/**
 * Invalidates the attributes of files in a directory that are pending after a change of rules. Called before the kernel
 * gets the directory's own attributes.
 */
export function invalidateChildren({ shared }: Workspace, dir: Node): void {
  const files = dir.pendingInvalidations;
  if (files === undefined) return;
  dir.pendingInvalidations = undefined;
  for (const file of files) {
    // Freed, or already invalidated through another link.
    if (!file.needsInvalidation || shared.nodes.find(file.id) !== file) continue;
    try {
      shared.notifier.invalAttributesNow(file.id);
    } catch (thrown) {
      // The next request for the directory tries again.
      dir.pendingInvalidations = files;
      throw thrown;
    }
    file.needsInvalidation = false;
  }
}

/** Records that the kernel may cache contents of a node, so that new rules must invalidate its pages, too. */
export function markPaged({ shared }: Workspace, node: Node): void {
  node.mayHavePages = true;
  node.mayHaveStaleAttributes = true;
  if (!node.needsInvalidation) return;
  node.needsInvalidation = false;
  shared.notifier.invalInode(node.id);
}

import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';

/** Before the kernel is given a directory's attributes: files in it of which it has others than the present rules say. */
export function tellChildren({ shared }: Workspace, dir: Node): void {
  const files = dir.untoldChildren;
  if (files === undefined) return;
  dir.untoldChildren = undefined;
  for (const file of files) {
    // Gone, or told by another of its names.
    if (!file.untold || shared.nodes.find(file.id) !== file) continue;
    try {
      shared.notifier.invalAttributesNow(file.id);
    } catch (thrown) {
      // The next request for the directory tries again.
      dir.untoldChildren = files;
      throw thrown;
    }
    file.untold = false;
  }
}

/** Contents of a file or symlink go to the kernel, or came from there: new rules must take its pages away from now on. */
export function markPaged({ shared }: Workspace, node: Node): void {
  node.paged = true;
  if (!node.untold) return;
  node.untold = false;
  shared.notifier.invalInode(node.id);
}

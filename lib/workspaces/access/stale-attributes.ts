import type { Notifier } from '../../fuse/filesystem.ts';
import type { NodeTable } from '../nodes/node-table.ts';

/** Notes on nodes that the kernel is told to ask for their attributes again. */
export function notingStale(notifier: Notifier, nodes: NodeTable): Notifier {
  const note = (nodeid: number) => {
    const node = nodes.find(nodeid);
    if (node !== undefined) node.mayHaveStaleAttributes = true;
  };
  return {
    invalInode: (nodeid) => {
      note(nodeid);
      notifier.invalInode(nodeid);
    },
    invalAttributesNow: (nodeid) => {
      note(nodeid);
      notifier.invalAttributesNow(nodeid);
    },
    invalEntry: (parent, name) => notifier.invalEntry(parent, name),
    dropEntry: (parent, name) => notifier.dropEntry(parent, name),
  };
}

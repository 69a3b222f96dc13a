import { readFile } from '../delta/contents/host-io.ts';
import type { Inode } from '../delta/index/inode.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';

/**
 * Reads the contents of a regular file as they are stored, whatever the rules say: the caller checks them, and replaces
 * values of a file that is redacted. Throws ESTALE if the base file was replaced, and host errors.
 */
export function readOriginal(workspace: Workspace, node: Node, offset: number, into: Buffer): number {
  const { inode } = node;
  if (inode === undefined) return readFile(baseFd(workspace, node), offset, into);
  return workspace.delta.read(inode, offset, into, () => dataFd(workspace, node, inode));
}

function baseFd(workspace: Workspace, node: Node): number {
  const { base, shared } = workspace;
  return shared.files.of(node, () => base.open(node.requireBasePath(), node.requireBase()));
}

/** The descriptor of the host file that has the contents of an inode. */
export function dataFd(workspace: Workspace, node: Node, inode: Inode): number {
  return workspace.shared.files.of(node, () => workspace.delta.openFile(inode));
}

import type { ByteString } from '../../byte-string.ts';
import type { Node } from '../nodes/node.ts';
import type { FileRequest } from './file-request.ts';

/** Invalidates a name and its directory in the kernel, if the kernel knows the directory. */
export function invalidateName({ workspace }: FileRequest, dir: Node, name: ByteString): void {
  if (dir.nlookup === 0) return;
  const { notifier } = workspace.shared;
  notifier.invalInode(dir.id);
  notifier.invalEntry(dir.id, name);
}

/** Invalidates attributes and pages of a node in the kernel, if the kernel knows it. */
export function invalidateInode({ workspace }: FileRequest, node: Node): void {
  if (node.nlookup > 0) workspace.shared.notifier.invalInode(node.id);
}

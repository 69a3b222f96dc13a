import type { ByteString } from '../../byte-string.ts';
import type { Node } from '../nodes/node.ts';
import type { Visit } from './visit.ts';

/** The kernel is to ask again for a name, and for what is in its directory. */
export function tellName({ workspace }: Visit, dir: Node, name: ByteString): void {
  if (dir.nlookup === 0) return;
  const { notifier } = workspace.shared;
  notifier.invalInode(dir.id);
  notifier.invalEntry(dir.id, name);
}

export function tellInode({ workspace }: Visit, node: Node): void {
  if (node.nlookup > 0) workspace.shared.notifier.invalInode(node.id);
}

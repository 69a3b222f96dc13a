import { S_IFREG } from '../../linux/mode.ts';
import type { Time } from '../../linux/time.ts';
import { Change } from '../history/change.ts';
import type { Node } from '../nodes/node.ts';
import { attributes, write } from '../operations/contents.ts';
import type { Visit } from './visit.ts';

const STAGED_MODE = S_IFREG | 0o600;

/**
 * A file without a name, as open(2) with O_TMPFILE makes it: a record of the delta that no directory leads to. A restart
 * forgets it, so does the end of its handle.
 */
export function stage(visit: Visit, data: Uint8Array): number {
  const { workspace, caller } = visit;
  const id = Change.make(workspace, (change) => change.create(STAGED_MODE, caller.uid, caller.gid, {}));
  const node = workspace.tree.unnamed(workspace.delta.table.get(id)!);
  const handle = workspace.handles.open(node);
  try {
    writeAll(visit, workspace.handles.get(handle), data, 0);
  } catch (error) {
    workspace.handles.close(workspace.tree, handle);
    throw error;
  }
  return handle;
}

export function append(visit: Visit, handle: number, data: Uint8Array): void {
  const node = visit.workspace.handles.get(handle);
  writeAll(visit, node, data, node.inode!.size);
}

export function seal({ workspace }: Visit, handle: number, mode: number, mtime: Time): void {
  const node = workspace.handles.get(handle);
  const now = attributes(node.inode!);
  Change.make(workspace, (change) => change.attr(node, { ...now, mode: S_IFREG | mode, mtime, atime: mtime }));
}

function writeAll({ workspace, access }: Visit, node: Node, data: Uint8Array, offset: number): void {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  for (let done = 0; done < bytes.length; ) {
    done += write(workspace, access, node, offset + done, bytes.subarray(done), false);
  }
}

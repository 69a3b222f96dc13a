import { S_IFREG } from '../../linux/mode.ts';
import type { Time } from '../../linux/time.ts';
import type { Node } from '../nodes/node.ts';
import { attributesOf, write } from '../operations/contents.ts';
import type { FileRequest } from './file-request.ts';

const STAGED_MODE = S_IFREG | 0o600;

/**
 * Creates an unlinked file, as open(2) with O_TMPFILE: an inode of the delta without a directory entry. It is deleted
 * when its handle is closed or the server restarts. Returns the handle.
 */
export function stage(request: FileRequest, data: Uint8Array): number {
  const { workspace, caller } = request;
  const found = workspace.stored.names.createUnlinked({ mode: STAGED_MODE, uid: caller.uid, gid: caller.gid });
  const node = workspace.tree.addUnlinked(found);
  const handle = workspace.handles.open(node);
  try {
    writeAll(request, workspace.handles.get(handle), data, 0);
  } catch (error) {
    workspace.handles.close(workspace.tree, handle);
    throw error;
  }
  return handle;
}

/** Appends to a staged file. Throws ESTALE for an unknown handle, EDQUOT and host errors. */
export function append(request: FileRequest, handle: number, data: Uint8Array): void {
  const node = request.workspace.handles.get(handle);
  writeAll(request, node, data, node.shown.size);
}

/** Sets mode and modification time of a staged file. */
export function seal({ workspace }: FileRequest, handle: number, mode: number, mtime: Time): void {
  const node = workspace.handles.get(handle);
  const to = { ...attributesOf(node), mode: S_IFREG | mode, mtime, atime: mtime };
  workspace.stored.names.setAttributes(node, to, false);
}

function writeAll({ workspace, access }: FileRequest, node: Node, data: Uint8Array, offset: number): void {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  for (let done = 0; done < bytes.length; ) {
    done += write(workspace, access, node, offset + done, bytes.subarray(done), false);
  }
}

import type { ByteString } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import type { Node } from '../nodes/node.ts';
import { read, requireFile } from '../operations/contents.ts';
import type { OpenedFile } from '../workspace-files.ts';
import { statusOf, versionOf } from './status.ts';
import { MAY_READ, type Visit } from './visit.ts';

/** Bytes that come with the opening, and at most at once: the file system serves programs in between. */
const AT_ONCE = 1 << 20;

export function open(visit: Visit, path: ByteString): OpenedFile {
  const { workspace } = visit;
  const node = visit.find(path, true);
  requireFile(node);
  visit.require(node, MAY_READ);
  const status = statusOf(visit, node, path);
  const data = bytesOf(visit, node, 0, status.size);
  if (data.length < Math.min(status.size, AT_ONCE)) throw changed();
  const handle = data.length === status.size ? 0 : workspace.handles.open(node);
  return { ...status, version: versionOf(node), data, handle };
}

export function readOpen(visit: Visit, handle: number, version: string, offset: number, length: number): Uint8Array {
  const node = visit.workspace.handles.get(handle);
  if (versionOf(node) !== version) throw changed();
  return bytesOf(visit, node, offset, length);
}

function bytesOf({ workspace, access }: Visit, node: Node, offset: number, length: number): Buffer {
  // Of its own memory: a part of a shared one would cross to the other thread with all of it.
  const into = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, AT_ONCE)));
  return into.subarray(0, read(workspace, access, node, offset, into));
}

function changed(): ServiceError {
  return new ServiceError('ABORTED', 'the file was changed while it was read; try again');
}

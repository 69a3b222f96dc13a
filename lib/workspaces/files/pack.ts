import type { ByteString } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { S_IFREG } from '../../linux/mode.ts';
import type { Node } from '../nodes/node.ts';
import type { Packed, PackedEntry } from '../workspace-files.ts';
import { toServiceError } from './errors.ts';
import { type FileRequest, MAY_READ } from './file-request.ts';
import { visit } from './list.ts';
import { readBeginning } from './read.ts';
import { statusOf } from './status.ts';

/** Files up to this size in bytes come with their contents; the workspace keeps them in slabs. */
const SMALL = 64 * 1024;
/** Bytes of contents in one answer: some milliseconds of this thread and of the main thread. */
const MAX_DATA = 256 * 1024;
/** Of an entry that cannot be read: it is left out. */
const UNREADABLE: readonly string[] = ['NOT_FOUND', 'PERMISSION_DENIED', 'FAILED_PRECONDITION'];

/**
 * Returns entries below a directory as an archive has them; see `WorkspaceFiles.pack`. Attributes and content of a file
 * are read in the same step, so that they are of one version. Throws as `list`, and ABORTED if a file of the codebase is
 * truncated during the read.
 */
export function* pack(request: FileRequest, path: ByteString, after: ByteString, limit: number): Steps<Packed> {
  const data = Buffer.allocUnsafeSlow(MAX_DATA);
  const entries: PackedEntry[] = [];
  let length = 0;
  let last = after;
  let visited = 0;
  const more = yield* visit(request, path, { recursive: true, after, about: limit }, (node, at) => {
    if (visited === limit) return false;
    const { mode, size, mtime, target } = statusOf(request, node, at);
    const small = node.type === S_IFREG && size <= SMALL;
    if (small && length + size > MAX_DATA) return false;
    visited++;
    last = at;
    if (!small) entries.push({ path: at, mode, size, mtime, ...(target !== undefined && { target }) });
    else if (isRead(request, node, at, data.subarray(length, length + size))) {
      entries.push({ path: at, mode, size, mtime, at: length });
      length += size;
    }
    return true;
  });
  // Its own memory: structured clone copies the whole memory that a part refers to.
  return { entries, data: new Uint8Array(data.subarray(0, length)), last, more };
}

/** Reads a file; false: it may not be read, or no longer exists on the host. */
function isRead(request: FileRequest, node: Node, path: ByteString, into: Buffer): boolean {
  try {
    request.require(node, MAY_READ);
    readBeginning(request, node, into);
    return true;
  } catch (thrown) {
    const error = toServiceError(thrown, path);
    if (error instanceof ServiceError && UNREADABLE.includes(error.code)) return false;
    throw error;
  }
}

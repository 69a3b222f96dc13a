import type { ByteString } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import type { HostFile } from '../../host-tree/host-file.ts';
import { type Level, mayChangeName, READ } from '../../permissions/index.ts';
import type { Node } from '../nodes/node.ts';
import { readContents, requireFile, requireReadable } from '../operations/contents.ts';
import type { Workspace } from '../workspace.ts';
import type { OpenedFile } from '../workspace-files.ts';
import { type FileRequest, MAY_READ } from './file-request.ts';
import { shownVersion, statusOf } from './status.ts';

/** Largest number of bytes read at once, also with `open`: programs are served in between. */
const MAX_READ = 1 << 20;
/** Of a file that may have to be read twice. */
const MAX_UNFLUSHED = 1 << 16;
const NOTHING = new Uint8Array(0);

/**
 * Opens a regular file and reads its first bytes; see `WorkspaceFiles.open`. Throws EISDIR or EINVAL for other file
 * types, EACCES, ABORTED if the file was truncated during the read.
 */
export function open(request: FileRequest, path: ByteString, flushed: boolean): OpenedFile | undefined {
  const { workspace } = request;
  const node = request.find(path, true);
  requireFile(node);
  request.require(node, MAY_READ);
  const status = statusOf(request, node, path);
  const version = shownVersion(request, node);
  const warnings = warningsOf(workspace);
  const unflushed = !flushed && mayBeMapped(node);
  if (unflushed && (status.size > MAX_UNFLUSHED || warnings === undefined)) return undefined;
  if (status.size > MAX_READ) {
    const host = warnings === undefined ? undefined : hostFileOf(request, node);
    const data = host === undefined ? beginningOf(request, node, MAX_READ) : NOTHING;
    const handle = workspace.handles.open(node);
    const direct = host !== undefined && warnings !== undefined && { host, warnings };
    return { ...status, version, data, handle, ...direct };
  }
  const data = beginningOf(request, node, status.size);
  return { ...status, version, data, handle: 0, ...(unflushed && { mayBeMapped: true, warnings: warnings! }) };
}

/** The host file that has the contents of a file as this caller sees them; undefined: there is none. Throws EACCES. */
function hostFileOf({ workspace, access }: FileRequest, node: Node): HostFile | undefined {
  requireReadable(access, node);
  // Who has the host file has the original.
  if (access.level(node) < READ) return undefined;
  return workspace.stored.contents.hostFile(node);
}

/** Changes with each `warnReaders`; undefined: host files cannot be read by others. */
function warningsOf({ spec: { changeCount } }: Workspace): number | undefined {
  return changeCount && Atomics.load(changeCount, 1);
}

function beginningOf(request: FileRequest, node: Node, length: number): Buffer {
  // Not from the shared pool: structured clone would copy the whole pool to the other thread.
  const data = Buffer.allocUnsafeSlow(length);
  readBeginning(request, node, data);
  return data;
}

/** See `WorkspaceFiles.check`. Throws ESTALE, EACCES, ABORTED. */
export function checkOpen(request: FileRequest, handle: number, version: string): number {
  const { workspace, access } = request;
  const node = workspace.handles.get(handle);
  requireReadable(access, node);
  if (access.level(node) < READ || shownVersion(request, node) !== version) throw changed();
  return warningsOf(workspace) ?? 0;
}

/** Whether a program may have mapped the file for writing: its pages came from the kernel's READ and WRITE requests. */
function mayBeMapped({ nlookup, mayHavePages, agentLevel }: Node): boolean {
  return nlookup > 0 && mayHavePages && mayChangeName(agentLevel as Level);
}

/**
 * Reads up to `length` bytes at byte `offset`. Throws ESTALE for an unknown handle, ABORTED if the file's version
 * changed.
 */
export function readOpen(
  request: FileRequest,
  handle: number,
  version: string,
  offset: number,
  length: number,
): Uint8Array {
  const node = request.workspace.handles.get(handle);
  requireReadable(request.access, node);
  if (shownVersion(request, node) !== version) throw changed();
  return bytesOf(request, node, offset, length);
}

/** Fills `into` with the first bytes of a file. Throws EACCES, ABORTED if the file is shorter by now. */
export function readBeginning({ workspace, access }: FileRequest, node: Node, into: Buffer): void {
  if (readContents(workspace, access, node, 0, into) < into.length) throw changed();
}

function bytesOf({ workspace, access }: FileRequest, node: Node, offset: number, length: number): Buffer {
  // Not from the shared pool: structured clone would copy the whole pool to the other thread.
  const into = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, MAX_READ)));
  return into.subarray(0, readContents(workspace, access, node, offset, into));
}

function changed(): ServiceError {
  return new ServiceError('ABORTED', 'the file was changed while it was read; try again');
}

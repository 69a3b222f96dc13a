import { basename, dirname, join } from 'node:path';
import { ServiceError } from '../errors.ts';
import { WORKSPACE_NAME } from '../fuse/session/parent-directories.ts';
import { type Call, callsThrough, type WorkspaceCalls } from './calls.ts';
import { homeName } from './home.ts';
import { MountConnection, type MountOptions } from './mount-connection.ts';
import { remoteCalls } from './remote-calls.ts';
import type { FileSystemExit, WorkspaceSpec } from './workspaces.ts';

/**
 * The mounted file system of all workspaces. All calls may be made concurrently; none touches the mount from the calling
 * thread synchronously. After `close`, and after the mount failed, every call rejects with UNAVAILABLE.
 */
export interface Workspaces extends WorkspaceCalls {
  /** The same operations, by their names. */
  readonly call: Call;
  /** Makes the workspace visible, with HOME (see `homeBeside`); returns its host path. ALREADY_EXISTS; INVALID_ARGUMENT: id. */
  attach(spec: WorkspaceSpec): Promise<string>;
  /** Makes a place for a workspace (see `WorkspaceOperations.reserve`); returns its host path. */
  reserve(place: string, uid: number): Promise<string>;
  /**
   * Detaches a workspace: open files in it fail with ESTALE from then on. The delta stays on disk, synced. Unknown ids
   * are ignored.
   */
  detach(id: string): Promise<void>;
  /** Writes back the pages that programs of a workspace have changed through mappings, for `open` with `flushed`. */
  flush(id: string): Promise<void>;
  /** Resolves when the file system stopped without `close`, before the system calls of programs fail. Never rejects. */
  readonly exited: Promise<FileSystemExit>;
  /**
   * Resolves when its threads have exited, possibly after `close`: from then on nothing writes to deltas. Never
   * rejects.
   */
  readonly threadsExited: Promise<unknown>;
  /**
   * Checks now that the mount is in place; `exited` is resolved if not. Without this call a check takes place every
   * second.
   */
  check(): Promise<void>;
  /** Unmounts and ends the worker; deltas are synced. Idempotent. */
  close(): Promise<void>;
}

/** Host path of the HOME that is attached, or has a place, beside a workspace at this host path. */
export function homeBeside(workspace: string): string {
  const place = dirname(workspace);
  return join(dirname(place), homeName(basename(place)), WORKSPACE_NAME);
}

/**
 * Mounts the file system of all workspaces. Rejects, with everything cleaned up, if that fails. The caller closes it.
 */
export async function mountWorkspaces(options: MountOptions): Promise<Workspaces> {
  const connection = await MountConnection.open(options);
  const request: Call = (operation, args) => connection.request(operation, args);
  const flush = (id: string) => connection.flush(id);
  const call = remoteCalls(request, flush);
  const pathOf = (name: string) => join(connection.mountPoint, name, WORKSPACE_NAME);
  return {
    ...callsThrough(call),
    call,
    async attach(spec) {
      if (spec.id === '' || spec.id === '.' || spec.id === '..' || /[/\0]/.test(spec.id))
        throw new ServiceError('INVALID_ARGUMENT', 'id: must be one path component');
      await request('attach', [spec]);
      return pathOf(spec.place ?? spec.id);
    },
    async reserve(place, uid) {
      await request('reserve', [place, uid]);
      return pathOf(place);
    },
    detach: (id) => request('detach', [id]),
    flush,
    exited: connection.exited,
    threadsExited: connection.threadsExited,
    check: () => connection.check(),
    close: () => connection.close(),
  };
}

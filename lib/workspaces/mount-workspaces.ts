import { join, resolve } from 'node:path';
import { toText } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import { Connection } from '../fuse/connection/connection.ts';
import { Deferred, settlesWithin } from '../fuse/connection/deferred.ts';
import { syncMount } from '../fuse/connection/mount.ts';
import { watch } from '../fuse/connection/watchdog.ts';
import { WORKSPACE_NAME } from '../fuse/session/parent-directories.ts';
import type { Log } from '../log.ts';
import {
  type Answer,
  type Arguments,
  type Call,
  callsThrough,
  type Operation,
  TRAITS,
  type WorkspaceCalls,
} from './calls.ts';
import { CurrentWorkspace } from './current-workspace.ts';
import { copyInBackground } from './delta/contents/background-copy.ts';
import type { WorkspaceEvent } from './events.ts';
import type { DamageReport, FileSystemExit, WorkspaceSpec } from './workspaces.ts';

/** Options of `mountWorkspaces`. */
export interface MountOptions {
  /** Mount point; created with its missing parents if absent. Must contain nothing else. */
  mountPoint: string;
  /** Module that calls `runFuseWorker` or `runFuseNotifier`, selected by `workerData.role`. */
  entry: URL;
  log: Log;
  /** Called for a workspace that is unreadable as a whole. The damage is logged already. */
  unreadable?: (id: string, reason: string) => void;
  /**
   * How long the request worker may not answer before it is considered hung, in ms: longer than its longest file copy.
   * Default 120000.
   */
  watchdogMs?: number;
}

const WATCHDOG_MS = 120_000;
const SYNC_TIMEOUT_MS = 5_000;
/** Maximum calls of an operation that is to be called again. */
const MAX_CALLS = 100;

/**
 * The mounted file system of all workspaces. All calls may be made concurrently; none touches the mount from the calling
 * thread synchronously. After `close`, and after the mount failed, every call rejects with UNAVAILABLE.
 */
export interface Workspaces extends WorkspaceCalls {
  /** The same operations, by their names. */
  readonly call: Call;
  /** Makes the workspace visible; returns its host path. ALREADY_EXISTS; INVALID_ARGUMENT: id. */
  attach(spec: WorkspaceSpec): Promise<string>;
  /**
   * Detaches a workspace: open files in it fail with ESTALE from then on. The delta stays on disk, synced. Unknown ids
   * are ignored.
   */
  detach(id: string): Promise<void>;
  /** Writes dirty pages of memory mappings back to their files. */
  flush(): Promise<void>;
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

/**
 * Mounts the file system of all workspaces. Rejects, with everything cleaned up, if that fails. The caller closes it.
 */
export async function mountWorkspaces(options: MountOptions): Promise<Workspaces> {
  const mountPoint = resolve(options.mountPoint);
  const { entry, log } = options;
  const damaged = ({ id, message, path }: DamageReport) => {
    const name = path === undefined ? undefined : toText(path);
    log.error('contents on disk are damaged or missing', { sandbox_id: id, path: name, reason: message });
    if (path === undefined) options.unreadable?.(id, message);
  };
  const current = new CurrentWorkspace();
  const onEvent = (posted: unknown) => {
    const event = posted as WorkspaceEvent;
    if (event.kind === 'damaged') damaged(event.report);
    else
      void copyInBackground(event.copy).then((errno) => control.call('copied', event.copy.id, errno).catch(() => {}));
  };
  const connection = await Connection.open({ mountPoint, entry, options: current.buffer, onEvent, log });
  const { control, ended } = connection.threads;
  const died = new Deferred<FileSystemExit>();
  let closing: Promise<void> | undefined;
  let dead = false;

  const watchdog = watch(connection, options.watchdogMs ?? WATCHDOG_MS);
  void Promise.race([ended, watchdog.alarm]).then(async ({ reason, byWorker }) => {
    const death: FileSystemExit = { reason, ...(byWorker && { workspace: current.id }) };
    watchdog.stop();
    control.close(reason);
    if (closing) return;
    dead = true;
    // The owner of the sandboxes is notified first, so that commands fail with this reason instead of file system
    // errors.
    died.resolve(death);
    await connection
      .close({ force: true })
      .catch((err: unknown) => options.log.error('a failed mount could not be removed', { err, mountPoint }));
  });

  const request: Call = async <O extends Operation>(operation: O, args: Arguments<O>): Promise<Answer<O>> => {
    if (closing) throw new ServiceError('UNAVAILABLE', 'the workspace file system is not available: it is closed');
    const { join } = TRAITS[operation];
    const answer = (await control.call(operation, ...args)) as Answer<O> | Answer<O>[];
    return join === undefined ? (answer as Answer<O>) : join(Array.isArray(answer) ? answer : [answer]);
  };

  /** Not awaited by anybody; ends with the attachment. */
  const trim = async (id: string) => {
    try {
      while (await request('trim', [id]));
    } catch {
      // Detached or closed: the rest is freed at the next load.
    }
  };

  const call: Call = async (operation, args) => {
    const { writeBack, again, trims } = TRAITS[operation];
    if (writeBack?.(...args)) await syncMount(mountPoint);
    let answer = await request(operation, args);
    for (let calls = 1; again?.(answer) && calls < MAX_CALLS; calls++) answer = await request(operation, args);
    if (trims) void trim(trims(...args));
    return answer;
  };

  return {
    ...callsThrough(call),
    call,
    async attach(spec) {
      if (spec.id === '' || spec.id === '.' || spec.id === '..' || /[/\0]/.test(spec.id))
        throw new ServiceError('INVALID_ARGUMENT', 'id: must be one path component');
      await request('attach', [spec]);
      return join(mountPoint, spec.id, WORKSPACE_NAME);
    },
    detach: (id) => request('detach', [id]),
    flush: () => syncMount(mountPoint),
    exited: died.promise,
    threadsExited: connection.threads.exited,
    async check() {
      await watchdog.checkMount();
      // Handlers of `exited` run first.
      await new Promise((resolve) => setImmediate(resolve));
    },
    close() {
      closing ??= (async () => {
        watchdog.stop();
        if (dead) return connection.close({ force: true });
        // Dirty pages of memory mappings are written to the deltas first; then the deltas are synced to disk.
        const synced = syncMount(mountPoint).then(() => control.call('syncAll'));
        synced.catch((err: unknown) => options.log.error('the deltas were not synced', { err }));
        const answers = await settlesWithin(synced, SYNC_TIMEOUT_MS);
        const closed = connection.close({ force: !answers });
        control.close('it is closed');
        await closed;
      })();
      return closing;
    },
  };
}

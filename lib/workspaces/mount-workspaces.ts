import { join, resolve } from 'node:path';
import { ServiceError } from '../errors.ts';
import { Connection } from '../fuse/connection/connection.ts';
import { Deferred, settlesWithin } from '../fuse/connection/deferred.ts';
import { syncMount } from '../fuse/connection/mount.ts';
import { watch } from '../fuse/connection/watchdog.ts';
import { WORKSPACE_NAME } from '../fuse/session/parent-directories.ts';
import type { Log } from '../log.ts';
import type { WorkspaceControl, WorkspaceEvent } from './control.ts';
import { CurrentWorkspace } from './current-workspace.ts';
import { copyInBackground } from './delta/contents/background-copy.ts';
import type { ChangePage, DamageReport, Death, Workspaces } from './workspaces.ts';

export interface MountOptions {
  /** Made when absent; its missing parents too. Nothing else may be kept in it. */
  mountPoint: string;
  /** The module that runs `runFuseWorker` and `runFuseNotifier` by the role in its workerData. */
  entry: URL;
  log: Log;
  /** Nothing of this workspace can be read. What is damaged is in the log already. */
  unreadable?: (id: string, reason: string) => void;
  /** How long the request worker may be silent before it is taken for dead: longer than its longest file copy. */
  watchdogMs?: number;
}

const WATCHDOG_MS = 120_000;
const SYNC_TIMEOUT_MS = 5_000;
/** Contents moved while the file system serves nobody else: some milliseconds. */
const ABSORBED_AT_ONCE = 100;
const ABSORBING_CALLS = 100;

/** Mounts the file system of all workspaces. Rejects, leaving nothing behind, when that cannot be done. */
export async function mountWorkspaces(options: MountOptions): Promise<Workspaces> {
  const mountPoint = resolve(options.mountPoint);
  const { entry, log } = options;
  const damaged = ({ id, message, path }: DamageReport) => {
    const name = path === undefined ? undefined : Buffer.from(path, 'latin1').toString();
    log.error('contents on the disk are damaged or missing', { sandbox_id: id, path: name, reason: message });
    if (path === undefined) options.unreadable?.(id, message);
  };
  const current = new CurrentWorkspace();
  const onEvent = (event: unknown) => {
    const told = event as WorkspaceEvent;
    if (told.kind === 'damaged') damaged(told.report);
    else void copyInBackground(told.copy).then((errno) => control.call('copied', told.copy.id, errno).catch(() => {}));
  };
  const connection = await Connection.open({ mountPoint, entry, options: current.buffer, onEvent, log });
  const { control, ended } = connection.threads;
  const died = new Deferred<Death>();
  let closing: Promise<void> | undefined;
  let dead = false;

  const watchdog = watch(connection, options.watchdogMs ?? WATCHDOG_MS);
  void Promise.race([ended, watchdog.alarm]).then(async ({ reason, byWorker }) => {
    const death: Death = { reason, ...(byWorker && { workspace: current.id }) };
    watchdog.stop();
    control.close(reason);
    if (closing) return;
    dead = true;
    // Sandboxes are ended first: their commands fail with this reason, and not with errors of a file system that is gone.
    died.resolve(death);
    await connection
      .close({ force: true })
      .catch((err: unknown) => options.log.error('the dead mount stays', { err, mountPoint }));
  });

  const call = async <T>(operation: keyof WorkspaceControl, ...args: readonly unknown[]): Promise<T> => {
    if (closing) throw new ServiceError('UNAVAILABLE', 'the workspace file system is not available: it is closed');
    return (await control.call(operation, ...args)) as T;
  };

  /** Nobody waits for it; it ends with the attachment. */
  const trim = async (id: string) => {
    try {
      while (await call<boolean>('trim', id));
    } catch {
      // Detached or closed: what is left is given back at the next load.
    }
  };

  return {
    async attach(spec) {
      if (spec.id === '' || spec.id === '.' || spec.id === '..' || /[/\0]/.test(spec.id))
        throw new ServiceError('INVALID_ARGUMENT', 'id: must be one path component');
      await call('attach', spec);
      return join(mountPoint, spec.id, WORKSPACE_NAME);
    },
    detach: (id) => call('detach', id),
    setRules: (id, rules) => call('setRules', id, rules),
    baseChanging: (codebaseId, paths) => call('baseChanging', codebaseId, paths),
    baseChanged: (codebaseId, paths) => call('baseChanged', codebaseId, paths),
    async changes(id, after, limit) {
      // Pages that programs have mapped and changed are changes too.
      if (after === '') await syncMount(mountPoint);
      const answer = await call<ChangePage | ChangePage[]>('changes', id, after, limit);
      const pages = Array.isArray(answer) ? answer : [answer];
      return { changes: pages.flatMap(({ changes }) => changes), more: pages.at(-1)!.more };
    },
    contents: (id, inodes) => call('contents', id, inodes),
    async revert(id, paths) {
      await syncMount(mountPoint);
      const count = await call<number>('revert', id, paths);
      void trim(id);
      return count;
    },
    renamed: (id) => call('renamed', id),
    shownFrom: (id, path) => call('shownFrom', id, path),
    keepRemoved: (spec, paths) => call('keepRemoved', spec, paths),
    async settle(spec, settlement) {
      await call('settle', spec, settlement);
      void trim(spec.id);
    },
    async freeze(id, limited = false) {
      await syncMount(mountPoint);
      return call('freeze', id, limited);
    },
    requireForkRoom: (id, checkpoint) => call('requireForkRoom', id, checkpoint),
    setCheckpoints: (id, layers) => call('setCheckpoints', id, layers),
    async rollback(id, layer) {
      // What is written back later would be written over what comes now.
      await syncMount(mountPoint);
      return call('rollback', id, layer);
    },
    async absorb(id, layers) {
      for (let calls = 0; calls < ABSORBING_CALLS; calls++) {
        const outcome = await call<ReturnType<WorkspaceControl['absorb']>>('absorb', id, layers, ABSORBED_AT_ONCE);
        if (outcome !== 'more') return outcome;
      }
      return 'more';
    },
    layersRemoved: () => call('layersRemoved'),
    flush: () => syncMount(mountPoint),
    files: (id, actor, operation, ...args) => call('files', id, actor, operation, args),
    usage: (id) => call('usage', id),
    died: died.promise,
    ended: connection.threads.exited,
    async check() {
      await watchdog.checkMount();
      // `died` is heard of first.
      await new Promise((resolve) => setImmediate(resolve));
    },
    close() {
      closing ??= (async () => {
        watchdog.stop();
        if (dead) return connection.close({ force: true });
        // Pages that programs have mapped and changed reach the deltas first, then the deltas reach the disk.
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

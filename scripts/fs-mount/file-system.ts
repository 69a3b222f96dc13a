import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { isMainThread, workerData } from 'node:worker_threads';
import type { ControlledFileSystem } from '../../lib/fuse/connection/control.ts';
import { type FuseNotifierData, serveNotifications } from '../../lib/fuse/connection/notifier.ts';
import { type FuseWorkerData, serveRequests } from '../../lib/fuse/connection/request-worker.ts';
import type { FuseSyncData } from '../../lib/fuse/connection/sync-thread.ts';
import type { Caller } from '../../lib/fuse/filesystem.ts';
import type { Engine } from '../../lib/workspaces/engine.ts';
import { LAYERED } from '../../lib/workspaces/layered-engine.ts';
import { openTrees } from '../../lib/workspaces/open-trees.ts';
import { runSyncThread } from '../../lib/workspaces/sync-thread.ts';
import { treeEngine } from '../../lib/workspaces/tree-engine.ts';
import { optionsOf } from '../../lib/workspaces/worker.ts';
import { WorkspaceFileSystem } from '../../lib/workspaces/workspace-file-system.ts';

/**
 * The workspace file system for developers' scripts and, by role, its worker threads; bundled by load.mjs. In addition
 * to the server's it counts requests by operation (`requests` of `usage`), and writes a CPU profile of the request
 * worker to the file named by PADDOCK_FS_PROFILE.
 */
export { unmount } from '../../lib/linux/mount.ts';
export { findMount } from '../../lib/linux/mountinfo.ts';
export { mountWorkspaces } from '../../lib/workspaces/index.ts';
export { importTree } from './import-tree.ts';

/** Methods that the thread calls between requests. They are not counted. */
const HOOKS = new Set('begin control toError operationEnded requestEnded workAhead synced flowOf serving'.split(' '));

if (!isMainThread) {
  const data = workerData as FuseWorkerData | FuseNotifierData | FuseSyncData;
  if (data.role === 'fuse-notifier') serveNotifications(data);
  else if (data.role === 'fuse-sync') runSyncThread(data);
  else
    profiled(() =>
      serveRequests(data, (host, current) =>
        counting(new WorkspaceFileSystem(host.notifier, { ...optionsOf(host, current), engine: bySpec() })),
      ),
    );
}

/** A workspace with a tree is one; all others are deltas over bases. */
function bySpec(): Engine {
  const trees = treeEngine(openTrees());
  return {
    directory: LAYERED.directory,
    workspace: (spec, ...rest) => (spec.tree === undefined ? LAYERED : trees).workspace(spec, ...rest),
  };
}

function counting(fileSystem: WorkspaceFileSystem): ControlledFileSystem {
  const requests: Record<string, number> = {};
  const counted: Record<string, unknown> = {};
  for (const name of methodsOf(fileSystem)) {
    if (HOOKS.has(name)) continue;
    const method = (fileSystem as unknown as Record<string, (...args: unknown[]) => unknown>)[name]!;
    requests[name] = 0;
    counted[name] = (...args: unknown[]) => {
      requests[name]!++;
      return method.apply(fileSystem, args);
    };
  }
  counted.operationEnded = () => fileSystem.operationEnded();
  counted.requestEnded = () => fileSystem.requestEnded();
  counted.flowOf = (nodeid: number) => fileSystem.flowOf(nodeid);
  counted.serving = (caller: Caller) => fileSystem.serving(caller);
  counted.workAhead = () => fileSystem.workAhead();
  counted.synced = (id: number, errnos: readonly number[] | undefined) => fileSystem.synced(id, errnos);
  counted.begin = (operation: string, args: unknown[]) => fileSystem.begin(operation, args);
  counted.toError = (thrown: unknown) => fileSystem.toError(thrown);
  counted.control = (operation: string, args: unknown[]) =>
    (counted[operation] as (...args: unknown[]) => unknown)(...args);
  counted.usage = (id: string) => ({ ...fileSystem.usage(id), requests: { ...requests } });
  return counted as unknown as ControlledFileSystem;
}

/** Names of its own and inherited methods. */
function methodsOf(object: object): string[] {
  const names: string[] = [];
  for (let at = Object.getPrototypeOf(object); at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    names.push(...Object.getOwnPropertyNames(at).filter((name) => name !== 'constructor'));
  }
  return names;
}

function profiled(run: () => void): void {
  const file = process.env.PADDOCK_FS_PROFILE;
  if (!file) {
    run();
    return;
  }
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.start');
  run();
  session.post('Profiler.stop', (error, result) => {
    if (!error) writeFileSync(file, JSON.stringify(result.profile));
  });
}

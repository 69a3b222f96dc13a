import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { isMainThread, workerData } from 'node:worker_threads';
import type { ControlledFileSystem } from '../../lib/fuse/connection/control.ts';
import { type FuseNotifierData, serveNotifications } from '../../lib/fuse/connection/notifier.ts';
import { type FuseWorkerData, serveRequests } from '../../lib/fuse/connection/request-worker.ts';
import { WorkspaceFileSystem } from '../../lib/workspaces/workspace-file-system.ts';

/**
 * Bundled by load.mjs: the workspace file system for developers' scripts and, by role, its worker threads. Beside what
 * the server has it counts requests by operation (`usage` has them as `requests`), and writes a CPU profile of the
 * request worker to the file that PADDOCK_FS_PROFILE names.
 */
export { mountWorkspaces } from '../../lib/workspaces/index.ts';

if (!isMainThread) {
  const data = workerData as FuseWorkerData | FuseNotifierData;
  if (data.role === 'fuse-notifier') serveNotifications(data);
  else
    profiled(() =>
      serveRequests(data, (notifier, startCopy) => counting(new WorkspaceFileSystem(notifier, { startCopy }))),
    );
}

function counting(fileSystem: WorkspaceFileSystem): ControlledFileSystem {
  const requests: Record<string, number> = {};
  const counted: Record<string, unknown> = {};
  for (const name of Object.getOwnPropertyNames(WorkspaceFileSystem.prototype)) {
    if (name === 'constructor' || name === 'dropCopies') continue;
    const method = (fileSystem as unknown as Record<string, (...args: unknown[]) => unknown>)[name]!;
    requests[name] = 0;
    counted[name] = (...args: unknown[]) => {
      requests[name]!++;
      return method.apply(fileSystem, args);
    };
  }
  counted.dropCopies = () => fileSystem.dropCopies();
  counted.usage = (id: string) => ({ ...fileSystem.usage(id), requests: { ...requests } });
  return counted as unknown as ControlledFileSystem;
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

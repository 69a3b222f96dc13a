import { workerData } from 'node:worker_threads';
import { type FuseNotifierData, serveNotifications } from '../../../lib/fuse/connection/notifier.ts';
import { type FuseWorkerData, serveRequests } from '../../../lib/fuse/connection/request-worker.ts';
import type { FuseSyncData } from '../../../lib/fuse/connection/sync-thread.ts';
import { runSyncThread } from '../../../lib/workspaces/sync-thread.ts';
import { optionsOf } from '../../../lib/workspaces/worker.ts';
import { WorkspaceFileSystem } from '../../../lib/workspaces/workspace-file-system.ts';
import { WorkerFaults } from './worker-faults.ts';

/** The workspaces' file system; `usage` of "slow" takes several slices of the worker's time. */
class FailingFileSystem extends WorkspaceFileSystem {
  override begin(...args: Parameters<WorkspaceFileSystem['begin']>): ReturnType<WorkspaceFileSystem['begin']> {
    return args[0] === 'usage' && args[1][0] === 'slow' ? slowly() : super.begin(...args);
  }
}

function* slowly() {
  for (let slice = 0; slice < 3; slice++) {
    yield;
    for (const begun = performance.now(); performance.now() < begun + 3; );
  }
  return 'slowly';
}

WorkerFaults.install();
const data = workerData as FuseWorkerData | FuseNotifierData | FuseSyncData;
if (data.role === 'fuse')
  serveRequests(data, (host, current) => new FailingFileSystem(host.notifier, optionsOf(host, current)));
else if (data.role === 'fuse-sync') runSyncThread(data);
else serveNotifications(data);

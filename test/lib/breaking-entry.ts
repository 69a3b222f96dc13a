import { workerData } from 'node:worker_threads';
import { type FuseNotifierData, serveNotifications } from '../../lib/fuse/notifier.ts';
import { type FuseWorkerData, serveRequests } from '../../lib/fuse/request-worker.ts';
import { WorkspaceFileSystem } from '../../lib/fuse/workspace/index.ts';

/** The workspaces' own file system, whose thread ends while it makes a file of such a name. */
class BreakingFileSystem extends WorkspaceFileSystem {
  override create(...args: Parameters<WorkspaceFileSystem['create']>): ReturnType<WorkspaceFileSystem['create']> {
    const entry = super.create(...args);
    if (args[2].startsWith('end-the-worker')) process.exit(3);
    return entry;
  }
}

const data = workerData as FuseWorkerData | FuseNotifierData;
if (data.role === 'fuse') {
  serveRequests(data, (notifier, startCopy, current) => new BreakingFileSystem(notifier, { startCopy, current }));
} else serveNotifications(data);

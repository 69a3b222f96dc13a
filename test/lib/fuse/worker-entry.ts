import { workerData } from 'node:worker_threads';
import { type FuseNotifierData, serveNotifications } from '../../../lib/fuse/connection/notifier.ts';
import { type FuseWorkerData, serveRequests } from '../../../lib/fuse/connection/request-worker.ts';
import { CurrentWorkspace } from '../../../lib/workspaces/current-workspace.ts';
import { MemoryFileSystem } from './memory-file-system.ts';

const data = workerData as FuseWorkerData | FuseNotifierData;
if (data.role === 'fuse')
  serveRequests(
    data,
    (host, current) => new MemoryFileSystem(host.notifier, new CurrentWorkspace(current as SharedArrayBuffer)),
  );
else serveNotifications(data);

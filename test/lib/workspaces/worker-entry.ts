import { workerData } from 'node:worker_threads';
import { type FuseNotifierData, serveNotifications } from '../../../lib/fuse/connection/notifier.ts';
import { runSyncThread } from '../../../lib/workspaces/sync-thread.ts';
import { runFuseWorker } from '../../../lib/workspaces/worker.ts';

const { role } = workerData as { role: string };
if (role === 'fuse') runFuseWorker(workerData);
else if (role === 'fuse-sync') runSyncThread(workerData);
else serveNotifications(workerData as FuseNotifierData);

import { workerData } from 'node:worker_threads';
import { type FuseNotifierData, serveNotifications } from '../../../lib/fuse/connection/notifier.ts';
import { runFuseWorker } from '../../../lib/workspaces/worker.ts';

if ((workerData as { role: string }).role === 'fuse') runFuseWorker(workerData);
else serveNotifications(workerData as FuseNotifierData);

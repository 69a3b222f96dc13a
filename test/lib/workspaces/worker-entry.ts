import { workerData } from 'node:worker_threads';
import { runFuseNotifier, runFuseWorker } from '../../../lib/workspaces/worker.ts';

if ((workerData as { role: string }).role === 'fuse') runFuseWorker(workerData);
else runFuseNotifier(workerData);

import { workerData } from 'node:worker_threads';
import { runSyncThread } from '../../lib/workspaces/sync-thread.ts';

runSyncThread(workerData);

import { workerData } from 'node:worker_threads';
import { runFuseWorker } from '../../lib/workspaces/worker.ts';

runFuseWorker(workerData);

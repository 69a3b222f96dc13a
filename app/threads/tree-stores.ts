import { workerData } from 'node:worker_threads';
import { runStores } from '../../lib/codebases/tree/stores/stores-thread.ts';

runStores(workerData);

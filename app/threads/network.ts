import { workerData } from 'node:worker_threads';
import { runNetworks } from '../../lib/network/worker/run-networks.ts';

runNetworks(workerData);

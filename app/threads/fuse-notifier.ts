import { workerData } from 'node:worker_threads';
import { type FuseNotifierData, serveNotifications } from '../../lib/fuse/connection/notifier.ts';

serveNotifications(workerData as FuseNotifierData);

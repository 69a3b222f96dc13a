import { type FuseNotifierData, serveNotifications } from '../fuse/connection/notifier.ts';
import { type FuseWorkerData, serveRequests } from '../fuse/connection/request-worker.ts';
import { WorkspaceFileSystem } from './workspace-file-system.ts';

/** What the program's entry module runs in a worker thread whose workerData has the role 'fuse'. */
export function runFuseWorker(workerData: unknown): void {
  serveRequests(
    workerData as FuseWorkerData,
    (notifier, startCopy, current, damaged, startSteps, released) =>
      new WorkspaceFileSystem(notifier, { startCopy, current, damaged, startSteps, released }),
  );
}

/** The same for the role 'fuse-notifier'. */
export function runFuseNotifier(workerData: unknown): void {
  serveNotifications(workerData as FuseNotifierData);
}

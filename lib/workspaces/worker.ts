import type { FileSystemHost } from '../fuse/connection/control.ts';
import { type FuseNotifierData, serveNotifications } from '../fuse/connection/notifier.ts';
import { type FuseWorkerData, serveRequests } from '../fuse/connection/request-worker.ts';
import { CurrentWorkspace } from './current-workspace.ts';
import type { WorkspaceEvent } from './events.ts';
import { WorkspaceFileSystem, type WorkspaceFileSystemOptions } from './workspace-file-system.ts';

/** What the program's entry module runs in a worker thread whose workerData has the role 'fuse'. */
export function runFuseWorker(workerData: unknown): void {
  serveRequests(
    workerData as FuseWorkerData,
    (host, current) => new WorkspaceFileSystem(host.notifier, optionsOf(host, current)),
  );
}

/** The same for the role 'fuse-notifier'. */
export function runFuseNotifier(workerData: unknown): void {
  serveNotifications(workerData as FuseNotifierData);
}

/** `current`: the memory of the main thread's `CurrentWorkspace`. */
export function optionsOf(host: FileSystemHost, current: unknown): WorkspaceFileSystemOptions {
  const emit = (event: WorkspaceEvent) => host.emit(event);
  return {
    startCopy: (copy) => emit({ kind: 'copy', copy }),
    damaged: (report) => emit({ kind: 'damaged', report }),
    current: new CurrentWorkspace(current as SharedArrayBuffer),
    startSteps: host.startSteps,
    released: host.release,
  };
}

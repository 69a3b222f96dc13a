import { maxCachedDescriptors } from '../descriptors.ts';
import type { FileSystemHost } from '../fuse/connection/control.ts';
import { type FuseWorkerData, serveRequests } from '../fuse/connection/request-worker.ts';
import { CurrentWorkspace } from './current-workspace.ts';
import type { WorkspaceEvent } from './events.ts';
import { WorkspaceFileSystem } from './workspace-file-system.ts';
import type { WorkspaceFileSystemOptions } from './workspace-file-system-options.ts';

/**
 * Runs the request worker. Called by the entry module in a worker thread whose workerData has the role 'fuse'; returns
 * when the mount ends.
 */
export function runFuseWorker(workerData: unknown): void {
  serveRequests(
    workerData as FuseWorkerData,
    (host, current) => new WorkspaceFileSystem(host.notifier, optionsOf(host, current)),
  );
}

/** Options for a file system in the request worker. `current`: the memory of the main thread's `CurrentWorkspace`. */
export function optionsOf(host: FileSystemHost, current: unknown): WorkspaceFileSystemOptions {
  const emit = (event: WorkspaceEvent) => host.emit(event);
  const cached = maxCachedDescriptors();
  return {
    maxOpenFiles: cached,
    maxOpenDirectories: cached,
    startCopy: (copy) => emit({ kind: 'copy', copy }),
    startSync: host.startSync,
    answer: host.answer,
    startFree: (free) => emit({ kind: 'free', free }),
    tell: (told) => emit({ kind: 'told', told }),
    damaged: (report) => emit({ kind: 'damaged', report }),
    refused: oncePerMinute((id) => emit({ kind: 'refused', id })),
    current: new CurrentWorkspace(current as SharedArrayBuffer),
    startSteps: host.startSteps,
    released: host.release,
  };
}

/** Calls `act` at most once a minute for one id. */
function oncePerMinute(act: (id: string) => void): (id: string) => void {
  let ids = new Set<string>();
  let began = 0;
  return (id) => {
    const now = performance.now();
    if (now - began > 60_000) [ids, began] = [new Set(), now];
    if (ids.has(id)) return;
    ids.add(id);
    act(id);
  };
}

import { workerData } from 'node:worker_threads';
import { fromText } from '../../lib/byte-string.ts';
import type { NotificationQueue } from '../../lib/fuse/connection/notification-queue.ts';
import { type FuseNotifierData, serveNotifications } from '../../lib/fuse/connection/notifier.ts';
import { type FuseWorkerData, serveRequests } from '../../lib/fuse/connection/request-worker.ts';
import type { Notifier } from '../../lib/fuse/filesystem.ts';
import { optionsOf } from '../../lib/workspaces/worker.ts';
import { WorkspaceFileSystem } from '../../lib/workspaces/workspace-file-system.ts';
import type { WorkspaceFileSystemOptions } from '../../lib/workspaces/workspace-file-system-options.ts';

/** The workspaces' file system, with file names that make it fail. */
class BreakingFileSystem extends WorkspaceFileSystem {
  readonly #notifier: Notifier;

  constructor(notifier: Notifier, options: WorkspaceFileSystemOptions) {
    super(notifier, options);
    this.#notifier = notifier;
  }

  /** The thread ends while it creates `end-the-worker…`. */
  override create(...args: Parameters<WorkspaceFileSystem['create']>): ReturnType<WorkspaceFileSystem['create']> {
    const entry = super.create(...args);
    if (args[2].startsWith('end-the-worker')) process.exit(3);
    return entry;
  }

  /**
   * A lookup of `hold-the-lock` is never answered, so that its program keeps the directory locked in the kernel; and the
   * notifier is sent to wait for that lock.
   */
  override lookup(...args: Parameters<WorkspaceFileSystem['lookup']>): ReturnType<WorkspaceFileSystem['lookup']> {
    if (args[2] === 'hold-the-lock') {
      this.#notifier.invalEntry(args[1], fromText('other'));
      (this.#notifier as NotificationQueue).flush();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    return super.lookup(...args);
  }
}

const data = workerData as FuseWorkerData | FuseNotifierData;
if (data.role === 'fuse') {
  serveRequests(data, (host, current) => new BreakingFileSystem(host.notifier, optionsOf(host, current)));
} else serveNotifications(data);

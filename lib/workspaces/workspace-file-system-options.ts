import type { Steps } from '../fuse/connection/steps.ts';
import type { Errno } from '../linux/errno.ts';
import type { CurrentWorkspace } from './current-workspace.ts';
import type { BackgroundCopy } from './delta/contents/background-copy.ts';
import type { BackgroundFree } from './delta/contents/background-free.ts';
import type { BackgroundSync } from './delta/contents/background-sync.ts';
import type { Engine } from './engine.ts';
import type { ToldChanges } from './watching/told-changes.ts';
import type { DamageReport } from './workspaces.ts';

/** Options of `WorkspaceFileSystem`. */
export interface WorkspaceFileSystemOptions {
  /** How workspaces keep their files; default: as deltas over bases. */
  engine?: Engine;
  /** Limit of open host files, pinned ones excluded; default 256. */
  maxOpenFiles?: number;
  /** Limit of open codebase directories; default 256. */
  maxOpenDirectories?: number;
  /** Starts a copy of a large host file in another thread, which calls `copied` at its end; absent: copies at once. */
  startCopy?: (copy: BackgroundCopy) => void;
  /** Starts a sync of host files in another thread, which calls `synced` at its end; absent: syncs at once. */
  startSync?: (sync: BackgroundSync) => void;
  /** Answers the requests that are AnsweredLater with this cause. */
  answer?: (cause: number, error: Errno | undefined) => void;
  /**
   * Frees disk space of a large host file in another thread, which calls `copied` at the end of a truncation. Absent: it
   * is freed at once.
   */
  startFree?: (free: BackgroundFree) => void;
  /** Receives the workspace of each operation. */
  current?: CurrentWorkspace;
  /** Runs long work between requests. Absent: it runs at once. */
  startSteps?: (steps: Steps<unknown>) => void;
  /** Called when operations that are Postponed with this cause may be run again. */
  released?: (cause: number) => void;
  /** Memory limit in bytes for all workspaces; default: half of the thread's heap limit. */
  maxMemory?: number;
  /** Receives changes from outside, for programs that watch files. */
  tell?: (told: ToldChanges) => void;
  /** Called once for each damaged file, and once for each damaged workspace. */
  damaged?: (report: DamageReport) => void;
  /** Called when a workspace may not grow because the disk has no room. */
  refused?: (id: string) => void;
}

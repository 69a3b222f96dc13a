import type { Unzstd } from '../archive/unzstd.ts';
import type { OwnerLimitSource } from '../limits/stored-limits.ts';
import type { Reserve } from '../linux/disk-room.ts';
import type { SyncDisk } from '../linux/disk-sync.ts';
import type { Log } from '../log.ts';
import type { CodebaseTable } from '../metadata/metadata.ts';
import type { SharedThreads } from '../threads/thread-pool.ts';
import type { Transfers } from '../transfers.ts';
import type { TreeExport } from './archive/tree-export.ts';
import type { TreeImport } from './archive/tree-import.ts';
import type { CommitCertain } from './commit-journal.ts';
import type { CommitFiles } from './commits/commit-files.ts';
import type { BaseObserver } from './observe-change.ts';
import type { RebaseSandbox } from './plan.ts';
import type { CodebaseLimits } from './quota.ts';

/** Threads of a server for the commits and archives of its codebases, and what makes commits durable. */
export interface CodebaseThreads {
  commits: SharedThreads<CommitFiles>;
  imports: SharedThreads<TreeImport>;
  unzstd: SharedThreads<Unzstd>;
  exports: SharedThreads<TreeExport>;
  /** For interrupted imports. Those that hold a thread of `imports` may wait for the end of one. */
  finishing: SharedThreads<TreeImport>;
  syncDisk: SyncDisk;
}

export interface CodebasesOptions {
  /** `storage.codebase_path`; created if absent. */
  path: string;
  records: CodebaseTable;
  /** Limits of each codebase; absent: none. */
  limits?: CodebaseLimits;
  /** Room of the disk that uploads may not use; absent: none. */
  reserve?: Reserve;
  /** Limits of the owners of codebases; absent: none. */
  owners?: OwnerLimitSource;
  /** Threads that archives are read and written in; absent: that of the caller. */
  archives?: CodebaseThreads;
  /** Admission of uploads and downloads; absent: unlimited. */
  transfers?: Transfers;
  log: Log;
  /** Wall-clock time in milliseconds since the epoch. */
  now?: () => number;
}

/** The sandboxes, as far as codebases depend on them. */
export interface CodebaseUsers {
  /**
   * Ids of the sandboxes that use the codebase. Synchronous, so that no sandbox can be created between this and
   * `records.remove`.
   */
  usedBy(codebaseId: string): readonly string[];
  watcher: BaseObserver;
  rebase: RebaseSandbox;
  certain: CommitCertain;
}

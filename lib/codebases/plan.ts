import type { ByteString } from '../byte-string.ts';
import type { Reserve } from '../linux/disk-room.ts';
import type { SyncDisk } from '../linux/disk-sync.ts';
import type { Log } from '../log.ts';
import type { Remote, Threads } from '../threads/thread-pool.ts';
import type { Checksums } from './checksums.ts';
import type { Commit, CommitCertain, Graft } from './commit-journal.ts';
import type { CommitFiles } from './commits/commit-files.ts';
import type { TotalsRecord } from './kept-totals.ts';
import type { BaseObserver } from './observe-change.ts';
import type { OwnerShare } from './owner-quota.ts';
import type { CodebaseLimits } from './quota.ts';
import type { Contents } from './totals.ts';

/** The stages of a commit, in order, and every path that they touch. */
export interface Plan extends Pick<Commit, 'stages' | 'givenUp' | 'graft' | 'intent' | 'answer'> {
  /** Absent: of no sandbox. */
  sandboxId?: string;
  paths: readonly ByteString[];
  /** Those that are removed, or get an entry of another type. */
  removed: readonly ByteString[];
  /** Those that are new, or at which a directory and something else replace each other. */
  added?: readonly ByteString[] | undefined;
  /** The growth of the codebase by the commit. */
  growth: Readonly<Contents>;
  /** The sandbox shows the same before it is rebased: the answer need not wait for that. */
  rebasesLater?: boolean;
  /** See `ComingChange`. */
  othersPrepared?: boolean;
  /** Called if the commit fails, before the observer is told that the files have changed. */
  failed?: (() => Promise<void>) | undefined;
}

/** Throws RESOURCE_EXHAUSTED if the codebase may not grow by this much. Call before staging contents. */
export type Admit = (growth: Readonly<Contents>) => Promise<void>;

/**
 * Removes the committed entries of a stage from the delta of the commit's sandbox. `resumed`: the commit was
 * interrupted earlier.
 */
export type RebaseSandbox = (commit: Commit, stage: number, resumed: boolean) => Promise<void>;

export interface TreeOptions {
  watcher: BaseObserver;
  checksums: Checksums;
  rebase: RebaseSandbox;
  certain: CommitCertain;
  limits: CodebaseLimits;
  /** Room of the disk that uploads may not use; absent: none. */
  reserve?: Reserve;
  share: OwnerShare;
  /** Of the totals. */
  record: TotalsRecord;
  /** Finishes an import that was interrupted. */
  graft: Graft;
  /** For commits. */
  threads: Threads<CommitFiles>;
  syncDisk: SyncDisk;
  log: Log;
}

/** Stages the contents of a commit in a directory, by the thread of the commit, and returns its steps. */
export type MakePlan = (staging: string, admit: Admit, remote: Remote<CommitFiles>) => Promise<Plan>;

/** Returns the plan of an import with its tree in the staging directory. `held`: the contents of the codebase. */
export type PlanImport = (staging: string, held: Readonly<Contents>) => Promise<Plan>;

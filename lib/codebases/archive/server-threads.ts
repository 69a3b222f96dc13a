import { UNZSTD_STEP_MS, type Unzstd } from '../../archive/unzstd.ts';
import type { CleanupStack } from '../../cleanup-stack.ts';
import { DiskSync } from '../../linux/disk-sync.ts';
import type { ThreadEntry } from '../../threads/thread-entry.ts';
import { ThreadPool } from '../../threads/thread-pool.ts';
import type { CommitFiles } from '../commits/commit-files.ts';
import type { CodebaseThreads } from '../options.ts';
import type { TreeExport } from './tree-export.ts';
import type { TreeImport } from './tree-import.ts';

/** Commits end by themselves: only those before it are waited for. */
const MAX_COMMIT_WAIT_MS = 15 * 60_000;

/** Started when they are needed first. */
export function archiveThreads(entry: ThreadEntry, cleanup: CleanupStack): CodebaseThreads {
  const commits = new ThreadPool<CommitFiles>(entry, 'commit', { maxWait: MAX_COMMIT_WAIT_MS });
  const imports = new ThreadPool<TreeImport>(entry, 'tree-import');
  const finishing = new ThreadPool<TreeImport>(entry, 'tree-import');
  const exports = new ThreadPool<TreeExport>(entry, 'tree-export');
  const unzstd = new ThreadPool<Unzstd>(entry, 'unzstd', { maxCall: UNZSTD_STEP_MS });
  for (const pool of [commits, imports, finishing, exports, unzstd]) cleanup.add('archive threads', () => pool.close());
  const disk = new DiskSync();
  cleanup.add('sync of the disk', () => disk.close());
  return { commits, imports, finishing, exports, unzstd, syncDisk: (directory) => disk.sync(directory) };
}

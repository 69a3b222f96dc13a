import { UNZSTD_STEP_MS, type Unzstd } from '../../archive/unzstd.ts';
import type { CleanupStack } from '../../cleanup-stack.ts';
import { ThreadPool } from '../../threads/thread-pool.ts';
import type { CodebaseThreads } from '../options.ts';
import type { TreeExport } from './tree-export.ts';
import type { TreeImport } from './tree-import.ts';

/** Started when they are needed first. */
export function archiveThreads(entry: URL, cleanup: CleanupStack): CodebaseThreads {
  const imports = new ThreadPool<TreeImport>(entry, 'tree-import');
  const finishing = new ThreadPool<TreeImport>(entry, 'tree-import');
  const exports = new ThreadPool<TreeExport>(entry, 'tree-export');
  const unzstd = new ThreadPool<Unzstd>(entry, 'unzstd', { maxCall: UNZSTD_STEP_MS });
  for (const pool of [imports, finishing, exports, unzstd]) cleanup.add('archive threads', () => pool.close());
  return { imports, finishing, exports, unzstd };
}

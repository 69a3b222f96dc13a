import { Unzstd } from '../../archive/unzstd.ts';
import { syncDisk } from '../../linux/disk-sync.ts';
import { inSameThread } from '../../threads/same-thread.ts';
import { CommitFiles } from '../commits/commit-files.ts';
import type { CodebaseThreads } from '../options.ts';
import { TreeExport } from './tree-export.ts';
import { TreeImport } from './tree-import.ts';

/** For tools and tests, which have no bundle to start threads with. */
export function callersThread(): CodebaseThreads {
  return {
    commits: inSameThread(() => new CommitFiles()),
    imports: inSameThread(() => new TreeImport()),
    finishing: inSameThread(() => new TreeImport()),
    exports: inSameThread(() => new TreeExport()),
    unzstd: inSameThread(() => new Unzstd()),
    syncDisk,
  };
}

import type { Disk } from '../../../disk/disk.ts';
import { Errno } from '../../../linux/errno.ts';
import type { SyncedFile } from '../../delta/contents/background-sync.ts';
import type { OwnSyncs } from '../../delta/contents/host-syncs.ts';
import { Ending } from './ending.ts';
import { runSteps, type Sync, type SyncStep } from './sync-steps.ts';

/** Does steps in the threads that sync files of all workspaces; a write between them is made by this one. */
export function hostSync(disk: Disk, syncs: OwnSyncs): Sync {
  const sync: Sync = (steps) => {
    if (!syncs.inBackground) return new Ending((ended) => ended(runSteps(disk, steps)));
    const at = steps.findIndex((step) => 'pwrite' in step);
    const first = at === -1 ? steps : steps.slice(0, at);
    const done = synced(syncs, first);
    if (at === -1) return done;
    return done.then(() => {
      runSteps(disk, steps.slice(at, at + 1));
      return sync(steps.slice(at + 1));
    });
  };
  return sync;
}

function synced(syncs: OwnSyncs, steps: readonly SyncStep[]): Ending {
  return new Ending((ended, failed) => {
    if (steps.length === 0) {
      ended();
      return;
    }
    syncs.add({
      open: () => ({ files: steps.map(fileOf) }),
      done(result) {
        const failure = 'thrown' in result ? result.thrown : errorOf(result.errnos);
        if (failure === undefined) ended();
        else failed(failure);
      },
    });
  });
}

/** By a path, so that the descriptor stays open. */
function fileOf(step: SyncStep): SyncedFile {
  if ('datasync' in step) return { file: `/proc/self/fd/${step.datasync}`, datasync: true };
  if ('folder' in step) return { file: step.folder, datasync: false };
  throw new Error('a write is no file to sync');
}

function errorOf(errnos: readonly number[]): Errno | undefined {
  const errno = errnos.find((each) => each !== 0);
  return errno === undefined ? undefined : new Errno(errno);
}

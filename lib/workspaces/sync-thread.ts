import { type FuseSyncData, serveSyncs } from '../fuse/connection/sync-thread.ts';
import { type BackgroundSync, syncNow } from './delta/contents/background-sync.ts';

/** Runs a sync thread. Called by the entry module in a worker thread whose workerData has the role 'fuse-sync'. */
export function runSyncThread(workerData: unknown): void {
  serveSyncs(workerData as FuseSyncData, (sync) => {
    const { id, ...files } = sync as BackgroundSync;
    return { id, errnos: syncNow(files) };
  });
}

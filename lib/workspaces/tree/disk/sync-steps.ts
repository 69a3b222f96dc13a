import type { Disk } from '../../../disk/disk.ts';

/** What makes state durable. The thread that does it needs no knowledge of the state. */
export type SyncStep =
  /** The contents of an open file. */
  | { readonly datasync: number }
  /** The names in a folder. */
  | { readonly folder: string }
  /** Not earlier than the steps before it are durable. */
  | { readonly pwrite: number; readonly bytes: Buffer; readonly offset: number };

/** Does the steps in their order, in another thread. Rejects at the first one that fails, and does none after it. */
export type Sync = (steps: readonly SyncStep[]) => PromiseLike<void>;

/** Waits for the disk. */
export function runSteps(disk: Disk, steps: readonly SyncStep[]): void {
  for (const step of steps) {
    if ('datasync' in step) disk.datasync(step.datasync);
    else if ('folder' in step) disk.syncFolder(step.folder);
    else disk.pwrite(step.pwrite, step.bytes, step.offset);
  }
}

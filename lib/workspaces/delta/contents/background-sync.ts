import { spawnSync } from 'node:child_process';
import { fdatasyncSync, fsyncSync, openSync } from 'node:fs';
import { closeQuietly } from '../../../linux/close.ts';
import { errnoOf, errorCode } from '../../../linux/errno.ts';

/** Number of files from which their whole file system is synced instead. */
const MANY = 32;

/** A host file to make durable. */
export interface SyncedFile {
  /** An open file, which its owner closes after the sync, or a path. */
  file: number | string;
  /** fdatasync(2) in place of fsync(2). */
  datasync: boolean;
  /** A missing file is no error. */
  optional?: boolean;
}

/** Host files to make durable, in this order. */
export interface SyncedFiles {
  files: readonly SyncedFile[];
  /** Directory of a file system that has all of them, if it may be synced as a whole. */
  directory?: string;
}

/** A sync for another thread. */
export interface BackgroundSync extends SyncedFiles {
  id: number;
  /** Causes of the requests that have succeeded if all files are durable. */
  answers?: readonly number[];
}

/** Makes the files durable; returns an errno for each, or 0. Waits for the disk. */
export function syncNow({ files, directory }: SyncedFiles): number[] {
  // Many files are synced faster with their file system by syncfs(2), which only a program (sync(1)) can call.
  if (directory !== undefined && files.length > MANY) {
    if (spawnSync('sync', ['-f', directory], { cwd: '/' }).status === 0) return files.map(() => 0);
  }
  return files.map((each) => {
    try {
      syncFileNow(each);
      return 0;
    } catch (thrown) {
      return errnoOfSync(each)(thrown);
    }
  });
}

function syncFileNow({ file, datasync }: SyncedFile): void {
  const fd = typeof file === 'number' ? file : openSync(file, 'r');
  try {
    if (datasync) fdatasyncSync(fd);
    else fsyncSync(fd);
  } finally {
    if (fd !== file) closeQuietly(fd);
  }
}

function errnoOfSync({ optional = false }: SyncedFile): (thrown: unknown) => number {
  return (thrown) => (optional && errorCode(thrown) === 'ENOENT' ? 0 : errnoOf(thrown));
}

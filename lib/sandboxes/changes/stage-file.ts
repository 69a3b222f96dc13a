import { close, constants, fchmod, futimes, open, write } from 'node:fs';
import { chmod, copyFile, type FileHandle, utimes } from 'node:fs/promises';
import type { Time } from '../../fuse/filesystem.ts';
import { itself } from '../../host-tree/at.ts';

type Done = (error: Error | null) => void;

/** As what a staged file is to appear. */
export interface As {
  mode: number;
  mtime: Time;
}

/**
 * A new file of the server's own with these contents, mode and mtime. Rejects with the errno of what failed. By callbacks:
 * a commit makes thousands, and a promise and a handle for each step take longer than the step.
 */
export function stageFile(path: Buffer, bytes: Uint8Array, as: As): Promise<void> {
  return new Promise((resolve, reject) => {
    open(path, 'wx', 0o600, (refused, fd) => {
      if (refused) return reject(refused);
      fill(fd, bytes, as, (failed) => {
        close(fd, (late) => {
          const error = failed ?? late;
          if (error) reject(error);
          else resolve();
        });
      });
    });
  });
}

function fill(fd: number, bytes: Uint8Array, { mode, mtime }: As, done: Done): void {
  const time = mtime.sec + mtime.nsec / 1e9;
  writeFrom(fd, bytes, 0, (failed) => {
    if (failed) return done(failed);
    futimes(fd, time, time, (untimed) => {
      if (untimed) done(untimed);
      else fchmod(fd, mode, done);
    });
  });
}

function writeFrom(fd: number, bytes: Uint8Array, from: number, done: Done): void {
  if (from === bytes.length) {
    done(null);
    return;
  }
  write(fd, bytes, from, bytes.length - from, from, (error, written) => {
    if (error) done(error);
    else writeFrom(fd, bytes, from + written, done);
  });
}

/**
 * The same with the contents of an open file, a clone where the disk can. Of the descriptor: whatever became of the path
 * that it was opened by. `path` must be in a directory in which only the server makes names.
 */
export async function stageCopy(path: Buffer, source: FileHandle, { mode, mtime }: As): Promise<void> {
  // EXCL: the new file is made here, so what follows is about that one.
  await copyFile(itself(source.fd), path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const time = mtime.sec + mtime.nsec / 1e9;
  await utimes(path, time, time);
  await chmod(path, mode);
}

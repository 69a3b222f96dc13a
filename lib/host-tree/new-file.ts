import { close, constants, fchmod, futimes, open, write } from 'node:fs';
import { chmod, copyFile, type FileHandle, utimes } from 'node:fs/promises';
import type { ByteString } from '../byte-string.ts';
import type { Time } from '../linux/time.ts';
import { itself } from './at.ts';
import type { Directory } from './directory.ts';

type Done = (error: Error | null) => void;

/** What a new file is given besides its contents. */
export interface NewFileAttributes {
  mode: number;
  mtime: Time;
}

/**
 * A new file of the server's own with these contents, mode and mtime. Rejects with the errno of what failed. By callbacks:
 * a commit makes thousands, and a promise and a handle for each step take longer than the step.
 */
export function writeNewFile(
  directory: Directory,
  name: ByteString,
  bytes: Uint8Array,
  as: NewFileAttributes,
): Promise<void> {
  return new Promise((resolve, reject) => {
    open(directory.path(name), 'wx', 0o600, (refused, fd) => {
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

function fill(fd: number, bytes: Uint8Array, { mode, mtime }: NewFileAttributes, done: Done): void {
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
 * that it was opened by. Only the server may make names in `directory`.
 */
export async function copyToNewFile(
  directory: Directory,
  name: ByteString,
  source: FileHandle,
  { mode, mtime }: NewFileAttributes,
): Promise<void> {
  const path = directory.path(name);
  // EXCL: the new file is made here, so what follows is about that one.
  await copyFile(itself(source.fd), path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const time = mtime.sec + mtime.nsec / 1e9;
  await utimes(path, time, time);
  await chmod(path, mode);
}

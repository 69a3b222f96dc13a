import { close, fchmod, futimes, open, write } from 'node:fs';
import type { Time } from '../../fuse/filesystem.ts';

type Done = (error: Error | null) => void;

/**
 * A new file of the server's own with these contents, mode and mtime. Rejects with the errno of what failed. By callbacks:
 * a commit makes thousands, and a promise and a handle for each step take longer than the step.
 */
export function stageFile(path: Buffer, bytes: Uint8Array, mode: number, mtime: Time): Promise<void> {
  return new Promise((resolve, reject) => {
    open(path, 'wx', 0o600, (refused, fd) => {
      if (refused) return reject(refused);
      fill(fd, bytes, mode, mtime, (failed) => {
        close(fd, (late) => {
          const error = failed ?? late;
          if (error) reject(error);
          else resolve();
        });
      });
    });
  });
}

function fill(fd: number, bytes: Uint8Array, mode: number, mtime: Time, done: Done): void {
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

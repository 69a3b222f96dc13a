import { close, fchmod, futimes, open, write } from 'node:fs';
import type { ByteString } from '../byte-string.ts';
import { hostSeconds, secondsOf, type Time } from '../linux/time.ts';
import type { Directory } from './directory.ts';

type Done = (error: Error | null) => void;

/** Attributes of a new file. */
interface NewFileAttributes {
  mode: number;
  mtime: Time;
}

/**
 * Creates a file of the server with these contents, mode and mtime. Rejects with the errno of the failed call. Uses
 * callbacks, because an image has thousands of files and promises and handles take longer than the system calls.
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
  const time = hostSeconds(secondsOf(mtime));
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

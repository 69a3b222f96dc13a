import {
  closeSync,
  constants,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import type { Disk, OpenAs } from './disk.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_RDONLY, O_RDWR } = constants;
const FLAGS: Readonly<Record<OpenAs, number>> = { read: O_RDONLY, write: O_RDWR, create: O_RDWR | O_CREAT | O_EXCL };

/** The file systems of this machine. */
export const hostDisk: Disk = {
  open: (path, how, mode = 0o600) => openSync(path, FLAGS[how], mode),
  close: closeSync,
  size: (fd) => fstatSync(fd).size,
  pread(fd, into, offset) {
    let done = 0;
    while (done < into.length) {
      const read = readSync(fd, into, done, into.length - done, offset + done);
      if (read === 0) break;
      done += read;
    }
    return done;
  },
  pwrite(fd, bytes, offset) {
    // A full disk takes a part first, and refuses the rest by the next call.
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, offset + done);
  },
  truncate: ftruncateSync,
  chmod: fchmodSync,
  datasync: fdatasyncSync,
  rename: renameSync,
  link: linkSync,
  unlink: unlinkSync,
  mkdir: (path, mode = 0o700) => {
    mkdirSync(path, mode);
  },
  readdir: (path) => readdirSync(path),
  syncFolder(path) {
    const fd = openSync(path, O_RDONLY | O_DIRECTORY);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  },
};

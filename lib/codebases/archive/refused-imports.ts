import { type ByteString, quote, quoteText } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import type { Contents } from '../totals.ts';

/** Limits of what an archive has; Infinity: none. */
export interface StagedLimits {
  bytes: number;
  entries: number;
  /** The bytes are those of the disk, not of a quota. */
  ofDisk?: boolean;
}

/** The mark of a name that is removed, as in layers of OCI images. */
export const WHITEOUT = '.wh.';

export function exceeded({ files, bytes, directories }: Readonly<Contents>, limits: StagedLimits): ServiceError {
  if (bytes > limits.bytes && limits.ofDisk) {
    return new ServiceError(
      'RESOURCE_EXHAUSTED',
      `the archive has ${bytes} bytes or more, and the disk is nearly full: the codebase may hold ${limits.bytes} (storage.reserve_bytes); nothing was imported`,
    );
  }
  const what =
    bytes > limits.bytes
      ? `${bytes} bytes or more, the most that the codebase may hold is ${limits.bytes}`
      : `${files + directories} files and directories or more, the most that the codebase may hold is ${limits.entries}`;
  return new ServiceError('RESOURCE_EXHAUSTED', `the archive has ${what}; nothing was imported`);
}

/** One of archive and codebase has a directory at the path, and the other one something else. */
export function otherType(path: ByteString, there: 'directory' | 'symlink' | 'file'): ServiceError {
  const what = {
    directory: 'a directory, and the archive has another type there',
    symlink: 'a symbolic link, which is not followed, and the archive has a directory there',
    file: 'not a directory, and the archive has one there',
  }[there];
  return new ServiceError('FAILED_PRECONDITION', `${quote(path)} is ${what}; nothing was imported`);
}

export function noMark(path: ByteString): ServiceError {
  const what = `${WHITEOUT}NAME must be an empty file, beside a NAME of the codebase that is removed`;
  return new ServiceError('INVALID_ARGUMENT', `${quote(path)} cannot be imported with mode "update": ${what}`);
}

export function addedAndRemoved(path: ByteString): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', `the archive has ${quote(path)} and removes it; nothing was imported`);
}

export function otherRevision(revision: string): ServiceError {
  const message = `the codebase has changed: its revision is no longer ${quoteText(revision)} (if_revision); nothing was imported`;
  return new ServiceError('ABORTED', message);
}

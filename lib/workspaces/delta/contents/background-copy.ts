import { copyFile, open } from 'node:fs/promises';
import { errnoOf } from '../../../linux/errno.ts';
import { copySparseInBackground } from '../../../linux/sparse-files.ts';

/** A copy for another thread: from an open file (by its path in /proc) to a new file. */
export interface BackgroundCopy {
  id: number;
  from: string;
  to: string;
  /** The file has holes, which the copy keeps. */
  isSparse: boolean;
}

/** Makes the copy and returns the errno of a failure, or 0. The caller removes an incomplete copy. */
export async function copyInBackground({ from, to, isSparse }: BackgroundCopy): Promise<number> {
  try {
    await (isSparse ? copySparseFile(from, to) : copyFile(from, to));
    return 0;
  } catch (error) {
    return errnoOf(error);
  }
}

async function copySparseFile(from: string, to: string): Promise<void> {
  const source = await open(from);
  try {
    const target = await open(to, 'w', 0o600);
    await copySparseInBackground(source.fd, target.fd).finally(() => target.close());
  } finally {
    await source.close();
  }
}

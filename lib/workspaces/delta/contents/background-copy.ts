import { copyFile } from 'node:fs/promises';
import { errnoOf } from '../../../linux/errno.ts';

/** A copy for another thread: from an open file (by its path in /proc) to a new file. */
export interface BackgroundCopy {
  id: number;
  from: string;
  to: string;
}

/** Makes the copy and returns the errno of a failure, or 0. The caller removes an incomplete copy. */
export async function copyInBackground({ from, to }: BackgroundCopy): Promise<number> {
  try {
    await copyFile(from, to);
    return 0;
  } catch (error) {
    return errnoOf(error);
  }
}

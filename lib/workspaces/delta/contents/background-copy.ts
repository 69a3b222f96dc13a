import { copyFile } from 'node:fs/promises';
import { constants } from 'node:os';

/** For another thread to do: from an open file (by its path in /proc) to a new one. */
export interface BackgroundCopy {
  id: number;
  from: string;
  to: string;
}

/** Returns the errno of the failure, or 0. What was copied before a failure is the caller's to remove. */
export async function copyInBackground({ from, to }: BackgroundCopy): Promise<number> {
  try {
    await copyFile(from, to);
    return 0;
  } catch (error) {
    return Math.abs((error as NodeJS.ErrnoException).errno ?? constants.errno.EIO);
  }
}

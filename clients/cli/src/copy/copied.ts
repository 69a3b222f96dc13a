import type { Files } from '../../../typescript/src/files.ts';
import type { Progress } from '../progress.ts';

/** What every copy needs. */
export interface Copy {
  files: Files;
  /** Whose access it has. */
  as: 'agent' | 'owner';
  /** Copy what symlinks given on the command line point to. */
  followLinks: boolean;
  signal: AbortSignal;
  progress: Progress;
}

export interface Copied {
  files: number;
  directories: number;
  symlinks: number;
  bytes: number;
}

export const nothing = (): Copied => ({ files: 0, directories: 0, symlinks: 0, bytes: 0 });

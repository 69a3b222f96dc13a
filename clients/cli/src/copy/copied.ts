import type { Files } from 'paddock-sandbox';
import type { PackOptions, Refusal } from 'paddock-sandbox/local';
import type { Progress } from '../output/progress.ts';

/** What every copy needs. */
export interface Copy {
  /** With the rules, or without. */
  files: Files;
  /** Copy what symlinks given on the command line point to. */
  followLinks: boolean;
  /** What comes out of the sandbox although tools run it. */
  git: boolean;
  allow: readonly string[];
  /** What of a local directory is sent. */
  pack: PackOptions;
  signal: AbortSignal;
  progress: Progress;
}

export interface Copied {
  files: number;
  directories: number;
  symlinks: number;
  bytes: number;
  /** What was not written here, and why. */
  leftOut?: readonly ({ path: string } & Refusal)[];
}

export const nothing = (): Copied => ({ files: 0, directories: 0, symlinks: 0, bytes: 0 });

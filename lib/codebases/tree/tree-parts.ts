import type { Disk } from '../../disk/disk.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { Head, Heads } from './head.ts';
import type { TreeQuota } from './tree-quota.ts';

/** Runs work that was divided into steps, and lets others have their turn between them. */
export type Run = <T>(steps: Generator<void, T, void>) => Promise<T>;

/** What the parts of one codebase share. */
export interface TreeParts {
  readonly id: string;
  readonly store: ObjectStore;
  readonly disk: Disk;
  readonly quota: TreeQuota;
  readonly run: Run;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The present one. Throws NOT_FOUND if the codebase is gone. */
  head(): Head;
  /** See `Heads`. */
  readonly advance: Heads['advance'];
}

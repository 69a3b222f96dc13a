import type { Steps } from '../../../fuse/connection/steps.ts';
import type { Errno } from '../../../linux/errno.ts';
import type { OwnSyncs } from '../contents/host-syncs.ts';
import type { LargeCopies } from '../contents/large-copies.ts';
import type { LargeFrees } from '../contents/large-frees.ts';
import type { Inode } from '../index/inode.ts';
import type { FrozenLayers } from './frozen-layers.ts';

/** Where the layers of a delta are, and what it needs of its surroundings. */
export interface LayersOf {
  /** Host directory of the layers of all deltas that may share some. */
  root: string;
  /** Prefix of the names of its own layers, unique to this delta. */
  prefix: string;
  frozen: FrozenLayers;
  copies: LargeCopies;
  /** Makes its files durable. */
  syncs: OwnSyncs;
  /** Called when requests that wait for this cause of `syncFile` are to be answered. */
  answer: (cause: number, error: Errno | undefined) => void;
  /** Whether a long operation prevents other use of the delta. */
  isHeld?: () => boolean;
  frees: LargeFrees;
  /** Number of its first inode; absent: FIRST_INO. */
  firstIno?: number | undefined;
  /** Called once for each file with damaged contents. */
  damaged?: (inode: Inode, message: string) => void;
  /** The frozen layer from which a delta without a journal starts. */
  origin?: string | undefined;
  /**
   * Runs steps between requests, with no other use of the delta until their end; returns false if that is not possible
   * now. Absent: they run at once.
   */
  startSteps?: ((steps: Steps<unknown>) => boolean) | undefined;
}

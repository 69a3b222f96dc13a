import type { ObjectStore } from '../../../store/object-store.ts';
import type { Key } from '../../../trees/format/keys.ts';
import type { TreeCodebase } from '../tree-codebase.ts';
import type { MovingHead } from './moving-head.ts';
import type { OwnerRoom } from './owner-room.ts';

/** A codebase whose store is open. */
export interface OpenCodebase {
  readonly codebase: TreeCodebase;
  readonly store: ObjectStore;
  readonly owner: OwnerRoom;
  /** Calls, and what they have open. */
  users: number;
  isForgotten: boolean;
  /** Bytes of contents that were stored, as far as they may be there. */
  stored: number;
  /** By the clock of the process. */
  collectedAt: number | undefined;
  readonly heads: MovingHead;
  /** Trees that are being read. */
  readonly reads: Set<TreeRead>;
}

/** One reader of a tree, which keeps its objects from being collected as garbage. */
export interface TreeRead {
  readonly root: Key;
}

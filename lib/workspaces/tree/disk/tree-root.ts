import type { DirectoryEntry } from '../../../trees/format/entry.ts';
import type { Key } from '../../../trees/format/keys.ts';

/** Inode numbers leased from the codebase and not given yet: from `next` to before `end`. */
export interface NumberRange {
  readonly next: number;
  readonly end: number;
}

/** What the owner of a workspace keeps at a freeze: two trees, and what their contents need. */
export interface TreeState {
  /** What the sandbox shows. */
  readonly mine: DirectoryEntry;
  /** What it has seen of its codebase: of this version. */
  readonly base: DirectoryEntry;
  readonly version: number;
  /** Number of freezes so far. Contents that are made from now on are born in it. */
  readonly epoch: number;
  /** What was born up to this epoch may be needed by a checkpoint or a fork: it is not changed in its place. */
  readonly sharedEpoch: number;
  /** Bytes and entries of its own; bytes that only its checkpoints need. */
  readonly ownBytes: number;
  readonly ownEntries: number;
  readonly retainedBytes: number;
  readonly numbers: readonly NumberRange[];
  /** For the next slot, and the next data file. */
  readonly nextSequence: number;
  readonly nextNumber: number;
  /** Which slots are in use. */
  readonly slabMaps: Key;
  /** Stores of other sandboxes that the trees name. */
  readonly stores: readonly bigint[];
  /** Ids of the keys of its placeholders. */
  readonly redactionKeys: readonly string[];
}

/** The end of a journal: its bytes, and the checksum that its next record would go on from. */
export interface JournalEnd {
  readonly end: number;
  readonly crc: number;
}

/** A state, and what goes on from it. */
export interface TreeRoot extends TreeState {
  /** The number of its store: in all of its keys. */
  readonly store: bigint;
  /** Number of the journal that goes on from this root. The first root has 1. */
  readonly generation: number;
  /** Of the journal before. */
  readonly former: JournalEnd;
  /** The segment to which the owner appends; 0: there is none yet. */
  readonly segment: number;
  /** No segment from this number on was begun before the root. */
  readonly nextSegment: number;
}

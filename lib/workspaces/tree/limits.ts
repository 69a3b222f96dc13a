/**
 * A freeze is due when any of these is reached. It takes the thread of the sandbox's requests 2 to 4 ms then, and what a
 * crash leaves to be replayed is bounded.
 */
export const FREEZE_AT = {
  /** Names in patches. */
  patched: 2048,
  /** Records since the last one. */
  journalBytes: 256 << 10,
  /** Objects that it writes anew, however few names changed in each. */
  objectBytes: 4 << 20,
  /** Moves of base that wait for a change to be recorded with. */
  unrecorded: 256,
} as const;

/** Entries that one move of the codebase may change in a tree at once; more are followed beside the requests. */
export const MAX_TAKEN = 256;

/** Times of one directory whose names its readers can continue from. */
export const MAX_GENERATIONS = 4;

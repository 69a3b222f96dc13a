/** Larger contents are files of their own. The same as the limit of slots, so that a copy of packed contents fits into one. */
export const MAX_PACKED = 64 * 1024;
/** Of one record: above a directory object of 512 entries with the longest names and targets. */
export const MAX_PAYLOAD = 4 * 1024 * 1024;
/** A pack is sealed when it has as many objects or bytes. */
export interface SealAt {
  readonly objects: number;
  readonly bytes: number;
}
export const SEAL_AT: SealAt = { objects: 16_384, bytes: 64 * 1024 * 1024 };

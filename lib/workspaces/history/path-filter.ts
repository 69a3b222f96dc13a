import type { ByteString } from '../../byte-string.ts';

/** A Bloom filter of paths. `mayHave` is true for each path that was added, and for about one of 400 others. */
export type PathFilter = Uint8Array;

const BITS_PER_PATH = 16;
const HASHES = 4;
const MIN_BITS = 512;
/** 128 KiB: with more than 65,536 paths it answers true more often. */
const MAX_BITS = 1 << 20;

/** The two hashes of a path from which its places in every filter follow. */
export type PathHash = readonly [number, number];

/** Returns the hashes of a path. */
export function hashOf(path: ByteString): PathHash {
  let one = 0x811c9dc5;
  let other = 0x9747b28c;
  for (let at = 0; at < path.length; at++) {
    const byte = path.charCodeAt(at);
    one = Math.imul(one ^ byte, 0x01000193);
    other = Math.imul(other ^ byte, 0x5bd1e995);
    other ^= other >>> 15;
  }
  // An odd step leads to as many places as there are hashes.
  return [(one ^ (one >>> 16)) >>> 0, (other | 1) >>> 0];
}

/** Builds a filter of paths; empty for no paths. */
export function filterOf(hashes: readonly PathHash[]): PathFilter {
  if (hashes.length === 0) return new Uint8Array(0);
  let bits = MIN_BITS;
  while (bits < hashes.length * BITS_PER_PATH && bits < MAX_BITS) bits *= 2;
  const filter = new Uint8Array(bits / 8);
  for (const hash of hashes) {
    for (const bit of placesOf(hash, bits)) filter[bit >> 3]! |= 1 << (bit & 7);
  }
  return filter;
}

/** Whether a filter may contain a path; false is certain. */
export function mayHave(filter: PathFilter, [one, other]: PathHash): boolean {
  const mask = filter.length * 8 - 1;
  if (mask < 0) return false;
  for (let n = 0; n < HASHES; n++) {
    const bit = (one + Math.imul(n, other)) & mask;
    if ((filter[bit >> 3]! & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

function* placesOf([one, other]: PathHash, bits: number): Generator<number> {
  for (let n = 0; n < HASHES; n++) yield (one + Math.imul(n, other)) & (bits - 1);
}

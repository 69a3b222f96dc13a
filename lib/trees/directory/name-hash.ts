/**
 * A secret of a codebase, which all its trees share: two numbers of 32 bits. Who knows it can choose names for which no
 * directory is divided well.
 */
export type Seed = readonly [number, number];

/** Rounds after the last word of a name. */
const FINAL = 3;

/** HalfSipHash-1-3 of the chars of a name: with an unkeyed or linear checksum, names could be chosen without knowing the seed. */
export function nameHash([k0, k1]: Seed, name: string): number {
  const last = name.length >>> 2;
  let [v0, v1, v2, v3] = [k0 | 0, k1 | 0, 0x6c796765 ^ k0, 0x74656462 ^ k1];
  for (let index = 0; index <= last + FINAL; index++) {
    const word = index < last ? wordAt(name, index * 4) : index === last ? lastWord(name, index * 4) : 0;
    if (index === last + 1) v2 ^= 0xff;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return (v1 ^ v3) >>> 0;
}

function wordAt(name: string, at: number): number {
  const low = name.charCodeAt(at) | (name.charCodeAt(at + 1) << 8);
  return low | (name.charCodeAt(at + 2) << 16) | (name.charCodeAt(at + 3) << 24);
}

/** What is left, and the length. */
function lastWord(name: string, from: number): number {
  let word = name.length << 24;
  for (let at = from; at < name.length; at++) word |= name.charCodeAt(at) << ((at - from) * 8);
  return word;
}

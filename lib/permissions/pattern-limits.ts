import type { ByteString } from '../fuse/filesystem.ts';

export const MAX_RULES = 100_000;
export const MAX_PATTERN_BYTES = 4096;
export const MAX_NAME_BYTES = 255;
/** Ways one component can be spelt after its braces are multiplied out. */
export const MAX_ALTERNATIVES = 256;
/** Of all rules together, after braces: what bounds the memory of a rule set (about 100 MB at worst). */
export const MAX_TOKENS = 4_000_000;

/** `message` goes after "permissions[i].pattern". */
export class PatternError extends Error {}

/** A JS string as the file system names it: its UTF-8 bytes, one char each. */
export function bytesOf(text: string): ByteString {
  return Buffer.from(text, 'utf8').toString('latin1');
}

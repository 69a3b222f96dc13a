import type { ByteString } from '../byte-string.ts';

export const MAX_RULES = 100_000;
export const MAX_PATTERN_BYTES = 4096;
/** Ways one component can be spelt after its braces are multiplied out. */
export const MAX_ALTERNATIVES = 256;
/** Of all rules together: plain names in paths, which bounds the memory of a rule set (about 200 MB). */
export const MAX_NAMES = 500_000;
/** And tokens of patterns, braces multiplied out, which bounds what one look-up can cost (about 0.1 s). */
export const MAX_TOKENS = 500_000;

/** `message` goes after "permissions[i].pattern". */
export class PatternError extends Error {}

/** A JS string as the file system names it: its UTF-8 bytes, one char each. */
export function bytesOf(text: string): ByteString {
  return Buffer.from(text, 'utf8').toString('latin1');
}

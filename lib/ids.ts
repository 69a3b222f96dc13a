import { randomBytes } from 'node:crypto';

/** Crockford's base 32, whose digits are in ASCII order: ids sort by their numeric value. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
/** 45 bits of milliseconds: enough until the year 3084. */
const TIME_DIGITS = 9;
/** 80 random bits: unguessable, and unique within a millisecond. */
const RANDOM_DIGITS = 16;

/** Returns a new id, `sb_…` or `cb_…`: safe in a URL and as a file name. Ids sort by creation time in milliseconds. */
export function newId(prefix: string, now: number = Date.now()): string {
  return `${prefix}_${timeDigits(now)}${randomDigits()}`;
}

/** Whether `id` has the form of `newId(prefix)`. Must be checked before an id becomes part of a path. */
export function isId(prefix: string, id: string): boolean {
  return (
    id.length === prefix.length + 1 + TIME_DIGITS + RANDOM_DIGITS &&
    id.startsWith(`${prefix}_`) &&
    /^[0-9a-hjkmnp-tv-z]+$/.test(id.slice(prefix.length + 1))
  );
}

function timeDigits(now: number): string {
  let digits = '';
  for (let rest = now; digits.length < TIME_DIGITS; rest = Math.floor(rest / 32)) digits = digit(rest) + digits;
  return digits;
}

function randomDigits(): string {
  // Uses five bits of each byte: 256 is a multiple of 32, so the digits are uniformly distributed.
  return Array.from(randomBytes(RANDOM_DIGITS), digit).join('');
}

function digit(value: number): string {
  return DIGITS.charAt(value % 32);
}

import { randomBytes } from 'node:crypto';

/** Crockford's base 32: in ASCII order, so that ids sort as their numbers do. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
/** 45 bits of milliseconds: until the year 3084. */
const TIME_DIGITS = 9;
/** 80 bits: not to be guessed, and no two alike within one millisecond. */
const RANDOM_DIGITS = 16;

/** `sb_…`, `cb_…`: URL-safe, and a file name. Ids sort by creation time to the millisecond. */
export function newId(prefix: string, now: number = Date.now()): string {
  return `${prefix}_${timeDigits(now)}${randomDigits()}`;
}

/** Whether `id` could have come from `newId(prefix)`. Ask this before an id becomes part of a path. */
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
  // Five bits of each byte are used: 256 is a multiple of 32, so no digit is likelier than another.
  return Array.from(randomBytes(RANDOM_DIGITS), digit).join('');
}

function digit(value: number): string {
  return DIGITS.charAt(value % 32);
}

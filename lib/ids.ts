import { randomUUID } from 'node:crypto';

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

/** 80 bits of a UUID, without its version and variant. Unlike randomBytes, Node prepares UUIDs many at a time. */
function randomDigits(): string {
  const id = randomUUID();
  const hex = id.slice(0, 8) + id.slice(-12);
  let digits = '';
  // Five hexadecimal digits have as many bits as four of these.
  for (let at = 0; at < hex.length; at += 5) {
    const bits = Number.parseInt(hex.slice(at, at + 5), 16);
    for (let shift = 15; shift >= 0; shift -= 5) digits += digit(bits >> shift);
  }
  return digits;
}

function digit(value: number): string {
  return DIGITS.charAt(value % 32);
}

import { LongText } from '../lib/long-text.ts';

/** Messages with less text are encoded in one step. */
const LARGE = 131_072;

/** Whether encoding the message takes long enough to delay other calls, or needs pieces for its bytes or long texts. */
export function isLarge(message: unknown): boolean {
  return weigh(message, LARGE) < 0;
}

/** `budget` minus the number of characters of the value; counting stops below 0, where LongTexts and bytes are always. */
export function weigh(value: unknown, budget: number): number {
  if (value instanceof LongText || value instanceof Uint8Array) return -1;
  if (typeof value === 'string') return budget - value.length;
  if (typeof value !== 'object' || value === null) return budget - 8;
  let left = budget;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index++) left = weigh(value[index], left - 8);
    return left;
  }
  for (const name in value) {
    left = weigh((value as Record<string, unknown>)[name], left - name.length - 3);
    if (left < 0) break;
  }
  return left;
}

/** Entries of a list that are all looked at: a page has fewer. */
const ALL = 4096;

/**
 * About as many characters as the message has, without its LongTexts and bytes, whose memory is limited elsewhere. Of a long list some
 * entries are looked at, so that this takes no time.
 */
export function textWeight(value: unknown): number {
  if (value instanceof LongText || value instanceof Uint8Array) return 0;
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let sum = 0;
  if (Array.isArray(value)) {
    const step = Math.ceil(value.length / ALL);
    for (let index = 0; index < value.length; index += step) sum += step * (8 + textWeight(value[index]));
    return sum;
  }
  for (const name in value) sum += name.length + 3 + textWeight((value as Record<string, unknown>)[name]);
  return sum;
}

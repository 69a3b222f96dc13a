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

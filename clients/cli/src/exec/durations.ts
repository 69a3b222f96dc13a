import { type Duration, secondsOf } from '../../../typescript/src/commands/options.ts';
import { UsageError } from '../errors.ts';

/** Seconds of "90", "30s", "5m" or "2h". */
export function durationOf(option: string, text: string): number {
  try {
    return secondsOf((/^\d+$/.test(text) ? Number(text) : text) as Duration);
  } catch {
    throw new UsageError(`--${option} is a number of seconds, or like 30s, 5m or 2h, not ${JSON.stringify(text)}`);
  }
}

/** A whole number that is not negative. */
export function countOf(option: string, text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new UsageError(`--${option} is a number, not ${JSON.stringify(text)}`);
  }
  return value;
}

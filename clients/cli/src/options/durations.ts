import { type Duration, secondsOf } from 'paddock-sandbox';
import { UsageError } from '../command-line/errors.ts';

/** "500ms", "30s", "5m" or "2h". */
export function durationOf(option: string, text: string): Duration {
  try {
    secondsOf(`--${option}`, text as Duration);
    return text as Duration;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** The same for what the service counts in seconds. */
export function wholeSecondsOf(option: string, text: string): Duration {
  const duration = durationOf(option, text);
  if (Number.isInteger(secondsOf(option, duration))) return duration;
  throw new UsageError(`--${option} must be whole seconds, and not ${text}`);
}

/** A whole number that is not negative. */
export function countOf(option: string, text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new UsageError(`--${option} is a number, not ${JSON.stringify(text)}`);
  }
  return value;
}

/** A time since the epoch (struct timespec; timespec(3type)). */
export interface Time {
  sec: number;
  /** 0 to 999,999,999. */
  nsec: number;
}

const SECOND = 1_000_000_000n;

/** Converts nanoseconds since the epoch (as in BigIntStats). Before the epoch `sec` is negative and `nsec` is not. */
export function timeOf(ns: bigint): Time {
  const rest = Number(ns % SECOND);
  // Number(ns) is inexact by some hundred nanoseconds, so the quotient is rounded to the whole number that it is.
  const sec = Math.round((Number(ns) - rest) / 1e9);
  return rest < 0 ? { sec: sec - 1, nsec: rest + 1e9 } : { sec, nsec: rest };
}

/** The seconds of a time, with a fraction. */
export function secondsOf({ sec, nsec }: Time): number {
  return sec + nsec / 1e9;
}

/** Seconds as the functions of Node take them that set times: a negative number would be the present for them. */
export function hostSeconds(seconds: number): number | string {
  return seconds < 0 ? String(seconds) : seconds;
}

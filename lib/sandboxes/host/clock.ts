export interface Clock {
  /** Wall-clock time in milliseconds since the epoch. */
  now(): number;
  /** Monotonic time in milliseconds. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

const JUMP_MS = 5 * 60_000;

/**
 * Detects that the wall clock was set: expiry times are unreliable then, and nothing should be destroyed until the next
 * check.
 */
export class JumpDetector {
  readonly #clock: Clock;
  #offset: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = clock.now() - clock.monotonic();
  }

  /** Milliseconds by which the wall clock was set since the last check, if more than five minutes; otherwise 0. */
  look(): number {
    const offset = this.#clock.now() - this.#clock.monotonic();
    const jump = offset - this.#offset;
    this.#offset = offset;
    return Math.abs(jump) > JUMP_MS ? jump : 0;
  }
}

/** `expires_at`: Unix time in seconds; 0: never. */
export function isExpired(expiresAt: number, clock: Clock): boolean {
  return expiresAt !== 0 && clock.now() >= expiresAt * 1000;
}

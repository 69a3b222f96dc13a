export interface Clock {
  /** Wall time, milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never go back. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

const JUMP_MS = 5 * 60_000;

/**
 * Tells when the wall clock was set rather than passed: then what looks expired may not be, and nothing should be
 * destroyed until the next look.
 */
export class JumpDetector {
  readonly #clock: Clock;
  #offset: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = clock.now() - clock.monotonic();
  }

  /** Milliseconds the wall clock was moved by since the last look, when that is more than five minutes; else 0. */
  look(): number {
    const offset = this.#clock.now() - this.#clock.monotonic();
    const jump = offset - this.#offset;
    this.#offset = offset;
    return Math.abs(jump) > JUMP_MS ? jump : 0;
  }
}

/** `expires_at` is Unix seconds, 0: never. */
export function isExpired(expiresAt: number, clock: Clock): boolean {
  return expiresAt !== 0 && clock.now() >= expiresAt * 1000;
}

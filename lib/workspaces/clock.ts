import type { Time } from '../linux/time.ts';

/** A step of the host's clock of more than this, in ms, is followed at once. */
const DRIFT_MS = 2;

/** Wall-clock time with sub-millisecond resolution; Date.now() alone has a resolution of 1 ms. */
export class Clock {
  #offset = Date.now() - performance.now();
  #last: Time = { sec: 0, nsec: 0 };

  /** Returns the current time. */
  now(): Time {
    const wall = Date.now();
    let ms = this.#offset + performance.now();
    if (Math.abs(wall - ms) > DRIFT_MS) {
      this.#offset += wall - ms;
      ms = wall;
    }
    const sec = Math.floor(ms / 1000);
    const nsec = Math.floor((ms - sec * 1000) * 1e6);
    if (sec !== this.#last.sec || nsec !== this.#last.nsec) this.#last = { sec, nsec };
    return this.#last;
  }
}

/** Whether two times are equal to the nanosecond. */
export function sameTime(a: Time, b: Time): boolean {
  return a.sec === b.sec && a.nsec === b.nsec;
}

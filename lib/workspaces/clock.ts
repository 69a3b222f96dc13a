import type { Time } from '../linux/time.ts';

/** A step of the host's clock larger than this is followed at once. */
const DRIFT_MS = 2;

/** Wall-clock time in nanoseconds that moves with every call's distance: Date.now() alone stands still for 1 ms. */
export class Clock {
  #offset = Date.now() - performance.now();
  #last: Time = { sec: 0, nsec: 0 };

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

const SECOND = 1_000_000_000n;

/** Nanoseconds since the epoch (as bigint stats have them); before it, nsec still counts forward. */
export function timeOf(ns: bigint): Time {
  let sec = ns / SECOND;
  let nsec = ns % SECOND;
  if (nsec < 0n) {
    sec -= 1n;
    nsec += SECOND;
  }
  return { sec: Number(sec), nsec: Number(nsec) };
}

export function sameTime(a: Time, b: Time): boolean {
  return a.sec === b.sec && a.nsec === b.nsec;
}

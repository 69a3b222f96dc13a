import { setTimeout as delay } from 'node:timers/promises';
import type { TurnTime } from '../../turn-time.ts';

const KILL_TRIES = 10;
const KILL_RETRY_MS = 70;
/** Milliseconds until a signal is tried again for a command whose program has not been started yet; doubled each time. */
const START_MS = 2;
/** Milliseconds after which a program that has not been started gets no signal. */
const LAST_START_MS = 10_000;

/** If no descriptor is free, not even of the reserve, one may become free shortly. Throws if none does. */
export async function killPaced(kill: () => void | Promise<void>, endings: TurnTime): Promise<void> {
  for (let tries = KILL_TRIES; ; tries--) {
    try {
      return await endings.run(kill);
    } catch (error) {
      if (tries === 0) throw error;
      await delay(KILL_RETRY_MS);
    }
  }
}

/** Kills when it is called, in any case without an error. Keeps nothing in memory but its arguments. */
export function killer(kill: () => void | Promise<void>, endings: TurnTime): () => Promise<void> {
  return () => killPaced(kill, endings).catch(() => {});
}

/**
 * Sends a signal until a process has got it or the command has ended. `send` returns the number of processes. Sent once,
 * the signal of a client that is faster than the runner's fork would be lost.
 */
export async function signalPaced(
  send: () => number | Promise<number>,
  ended: () => boolean,
  endings: TurnTime,
): Promise<void> {
  for (let wait = START_MS; !ended() && wait <= LAST_START_MS; wait *= 2) {
    if ((await endings.run(send)) > 0) return;
    await delay(wait);
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import type { ListeningPort, RunningSandbox } from '../../runtime/runtime.ts';
import { limiter } from '../limiter.ts';

/** Least milliseconds between two looks at one sandbox. */
const PAUSE_MS = 20;
/** A sandbox whose look took long is left alone for so many times as long. */
const PAUSE_FACTOR = 3;

/** The listening ports of a sandbox at one moment. */
export interface Look {
  ports: readonly ListeningPort[];
  /** Ids of processes by a pid that has a port; computed once for all callers. */
  owners?: Promise<ReadonlyMap<number, string>>;
}

interface Looks {
  /** Resolves when the next look may begin. Never rejects. */
  free: Promise<void>;
  /** Has not begun: everybody who asks gets it. */
  next?: Promise<Look> | undefined;
}

/**
 * Looks at the ports of sandboxes, one at a time in the whole server. The threat: the kernel walks through a table of all
 * sockets of the machine for each look, and a client may wait for a port with a thousand calls. All calls on a sandbox
 * share the looks at it.
 */
export class PortLooks {
  readonly #oneAtATime = limiter(1);
  readonly #looks = new WeakMap<RunningSandbox, Looks>();

  /** A look that begins after this call. Rejects if the sandbox has ended. */
  async at(running: RunningSandbox): Promise<Look> {
    let looks = this.#looks.get(running);
    if (looks === undefined) {
      looks = { free: Promise.resolve() };
      this.#looks.set(running, looks);
    }
    looks.next ??= this.#next(running, looks);
    return looks.next;
  }

  async #next(running: RunningSandbox, looks: Looks): Promise<Look> {
    await looks.free;
    return this.#oneAtATime(async () => {
      const began = performance.now();
      looks.next = undefined;
      const look = running.ports();
      looks.free = look.then(ignore, ignore).then(() => pauseAfter(performance.now() - began));
      return { ports: await look };
    });
  }
}

const ignore = () => {};

async function pauseAfter(milliseconds: number): Promise<void> {
  await delay(Math.max(PAUSE_MS, PAUSE_FACTOR * milliseconds), undefined, { ref: false });
}

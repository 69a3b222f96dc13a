import { setTimeout as delay } from 'node:timers/promises';
import type { SharedMappings, Turn } from '../../linux/shared-mappings.ts';
import type { RunningSandbox } from '../../runtime/runtime.ts';
import { limiter } from '../limiter.ts';
import type { LiveSandbox } from '../sandbox.ts';

/**
 * Processes that are looked at at once. The kernel may hold a look until a program has written its pages back, for which
 * the server needs the other threads of its pool.
 */
const AT_ONCE = 2;
/** Milliseconds of a look at a process that no program prolongs. */
const SHORT_MS = 50;
/** After a longer one the sandbox is left alone for so many times as long. */
const PAUSE_FACTOR = 2;

const NONE: SharedMappings = new Map();
const NO_WATCHES: ReadonlySet<number> = new Set();

/**
 * Looks for the files that programs of sandboxes have mapped or watch. The threat: a sandbox with a thousand processes that each have
 * 65,530 mappings, or that keeps the kernel busy with one, looked at by a thousand calls.
 */
export class MappedFiles {
  readonly #inTurn = limiter(AT_ONCE);
  /** Of looks for watches, which no call waits for. */
  readonly #inTurnOfWatches = limiter(1);
  /** Time from which a sandbox may be looked at again. */
  readonly #free = new WeakMap<RunningSandbox, number>();

  /**
   * See `WorkspaceObserver.mapped`. A sandbox that is neither running nor attached has no programs. The end of killed ones
   * writes their pages back, which may take longer than a stop waits for it.
   */
  async of(
    sandbox: Pick<LiveSandbox, 'running' | 'attached'> | undefined,
    device: string,
  ): Promise<SharedMappings | undefined> {
    const running = sandbox?.running;
    if (running === undefined) return sandbox?.attached ? undefined : NONE;
    try {
      return await running.sharedMappings(device, this.#turnsOf(running, this.#inTurn));
    } catch {
      return sandbox?.running === running || sandbox?.attached ? undefined : NONE;
    }
  }

  /** See `WorkspaceObserver.watched`. */
  async watchedIn(sandbox: Pick<LiveSandbox, 'running'> | undefined, device: string): Promise<ReadonlySet<number>> {
    const running = sandbox?.running;
    if (running === undefined) return NO_WATCHES;
    return running.inotifyWatches(device, this.#turnsOf(running, this.#inTurnOfWatches)).catch(() => NO_WATCHES);
  }

  #turnsOf(running: RunningSandbox, inTurn: ReturnType<typeof limiter>): Turn {
    return async (task) => {
      const pause = (this.#free.get(running) ?? 0) - performance.now();
      if (pause > 0) await delay(pause, undefined, { ref: false });
      return inTurn(async () => {
        const began = performance.now();
        try {
          return await task();
        } finally {
          const took = performance.now() - began;
          if (took > SHORT_MS) this.#free.set(running, performance.now() + PAUSE_FACTOR * took);
        }
      });
    };
  }
}

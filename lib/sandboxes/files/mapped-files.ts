import type { SharedMappings } from '../../linux/shared-mappings.ts';
import { limiter } from '../limiter.ts';
import type { LiveSandbox } from '../sandbox.ts';

/**
 * Sandboxes that are looked at at once. The kernel may hold a look until a program has written its pages back, for which
 * the server needs the other threads of its pool.
 */
const AT_ONCE = 2;

const NONE: SharedMappings = new Map();

/** Looks for the files that programs of sandboxes have mapped. */
export class MappedFiles {
  readonly #inTurn = limiter(AT_ONCE);

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
      return await this.#inTurn(() => running.sharedMappings(device));
    } catch {
      return sandbox?.running === running || sandbox?.attached ? undefined : NONE;
    }
  }
}

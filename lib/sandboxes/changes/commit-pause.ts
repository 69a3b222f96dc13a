import type { OwnDirectory } from '../../workspaces/workspaces.ts';
import type { Platform } from '../lifecycle/bring-up.ts';

type Mount = Pick<Platform['mount'], 'flush' | 'pause' | 'resume'>;

/**
 * Makes what programs do in a sandbox wait from the last comparison with the codebase until the sandbox is rebased, if the
 * sandbox has renamed directories of the codebase, and so shows it at other paths: nobody sees the codebase between its two
 * states. Others go on.
 *
 * The pause ends with the rebase. Call `end` if there is none. In between, nothing may wait for notifications of the kernel,
 * which wait for locks that the waiting programs have.
 */
export class CommitPause {
  readonly #id: string;
  readonly #mount: Mount;
  #isPaused = false;

  /** `id`: a sandbox whose workspace is attached. */
  constructor(id: string, mount: Mount) {
    this.#id = id;
    this.#mount = mount;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** `own`: the sandbox's directories. What programs have written to mapped pages before is in the delta. */
  async begin(own: readonly OwnDirectory[]): Promise<void> {
    if (!own.some(isMoved)) return;
    await this.#mount.flush(this.#id);
    await this.#mount.pause(this.#id);
    this.#isPaused = true;
  }

  /** Whether it is paused, or need not be. */
  suits(own: readonly OwnDirectory[]): boolean {
    return this.#isPaused || !own.some(isMoved);
  }

  /** Idempotent. */
  async end(): Promise<void> {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    await this.#mount.resume(this.#id);
  }
}

const isMoved = ({ origin }: OwnDirectory) => origin !== undefined;

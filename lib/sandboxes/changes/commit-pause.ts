import type { OwnDirectory } from '../../workspaces/workspaces.ts';
import type { Platform } from '../lifecycle/bring-up.ts';

type Mount = Pick<Platform['mount'], 'flush' | 'pause' | 'resume'>;

/**
 * Makes what programs do in a sandbox wait, while others go on:
 *
 * - from the last comparison with the codebase until the sandbox is rebased, if the sandbox has renamed directories of the
 *   codebase, and so shows it at other paths: nobody sees the codebase between its two states;
 * - while contents are compared and copied, if programs change something during each such copy.
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

  /**
   * `own`: the sandbox's directories; `isBusy`: its programs change something during each copy. What programs have written to
   * mapped pages before is in the delta.
   */
  async begin(own: readonly OwnDirectory[], isBusy: boolean): Promise<void> {
    if (!isBusy && !own.some(isMoved)) return;
    await this.#mount.flush(this.#id);
    await this.#mount.pause(this.#id);
    this.#isPaused = true;
  }

  /** Whether it is paused, or need not be. */
  suits(own: readonly OwnDirectory[]): boolean {
    return this.#isPaused || !own.some(isMoved);
  }

  /** Call when the contents are copied: ends it if that was the only reason. */
  async contentsCopied(own: readonly OwnDirectory[]): Promise<void> {
    if (!own.some(isMoved)) await this.end();
  }

  /** Idempotent. */
  async end(): Promise<void> {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    await this.#mount.resume(this.#id);
  }
}

const isMoved = ({ origin }: OwnDirectory) => origin !== undefined;

import type { Platform } from '../lifecycle/bring-up.ts';

type Mount = Pick<Platform['mount'], 'flush' | 'pause' | 'resume'>;

/**
 * Makes what programs do in a sandbox wait, while others go on:
 *
 * - from the last comparison with the codebase until the sandbox is rebased, if the sandbox has renamed directories of the
 *   codebase, and so shows it at other paths: nobody sees the codebase between its two states, and the rebase finds what was
 *   compared;
 * - while contents are compared and copied, if programs change something during each such copy.
 *
 * Meanwhile nothing may wait for the kernel: neither for notifications, which wait for locks that the waiting programs have, nor
 * for write-back of pages in any sandbox, which may queue behind reads of the waiting ones. It must be short, as a waiting
 * rename from one directory to another keeps the other renames of this kind on the mount waiting.
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

  /** Until `end`, or the last rebase of a commit. What programs have written to mapped pages before is in the delta. */
  async begin(): Promise<void> {
    await this.#mount.flush(this.#id);
    await this.#mount.pause(this.#id);
    this.#isPaused = true;
  }

  /** Idempotent. */
  async end(): Promise<void> {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    await this.#mount.resume(this.#id);
  }
}

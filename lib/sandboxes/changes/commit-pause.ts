import type { OwnDirectory } from '../../workspaces/workspaces.ts';
import type { Platform } from '../lifecycle/bring-up.ts';

type Mount = Pick<Platform['mount'], 'flush' | 'pause' | 'resume'>;

/**
 * Keeps directories where they are, from the last comparison with the codebase until the sandbox is rebased: renames of them
 * wait. If the sandbox has renamed some before, and so shows the codebase at other paths, all that its programs do waits, so
 * that nobody sees the codebase between its two states.
 *
 * The pause ends with the rebase. Call `end` if there is none.
 */
export class CommitPause {
  readonly #id: string;
  readonly #mount: Mount;
  /** Everything is paused, and not only renames. */
  isFull = false;
  #isPaused = false;

  /** `id`: a sandbox whose workspace is attached. */
  constructor(id: string, mount: Mount) {
    this.#id = id;
    this.#mount = mount;
  }

  /** `own`: the sandbox's directories. What programs have written to mapped pages before is in the delta. */
  async begin(own: readonly OwnDirectory[]): Promise<void> {
    const isFull = own.some(isMoved);
    if (isFull) await this.#mount.flush(this.#id);
    await this.#mount.pause(this.#id, isFull ? 'everything' : 'renames');
    this.isFull = isFull;
    this.#isPaused = true;
  }

  /** Whether it is a pause for these directories. */
  suits(own: readonly OwnDirectory[]): boolean {
    return this.isFull || !own.some(isMoved);
  }

  async end(): Promise<void> {
    if (!this.#isPaused) return;
    this.isFull = false;
    this.#isPaused = false;
    await this.#mount.resume(this.#id);
  }
}

const isMoved = ({ origin }: OwnDirectory) => origin !== undefined;

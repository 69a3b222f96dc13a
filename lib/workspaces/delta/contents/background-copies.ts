import { dirname } from 'node:path';
import { type BackgroundCopy, copyInBackground } from './background-copy.ts';

/** Copies at once: each is a process, or occupies one of the 4 threads of the process's pool. */
const AT_ONCE = 2;

/**
 * Makes the copies of all sandboxes, a few at once, and those of different layers in turns. The threat: a sandbox whose
 * programs write to a thousand large files starts a thousand processes beside its cgroup.
 */
export class BackgroundCopies {
  readonly #ended: (id: number, errno: number) => void;
  readonly #copy: (copy: BackgroundCopy) => Promise<number>;
  /** By the directories of layers, of which the first is next. */
  readonly #waiting = new Map<string, BackgroundCopy[]>();
  #running = 0;

  /** `ended` receives the errno of each copy, or 0. */
  constructor(ended: (id: number, errno: number) => void, copy = copyInBackground) {
    this.#ended = ended;
    this.#copy = copy;
  }

  start(copy: BackgroundCopy): void {
    const layer = dirname(copy.to);
    const waiting = this.#waiting.get(layer);
    if (waiting === undefined) this.#waiting.set(layer, [copy]);
    else waiting.push(copy);
    this.#next();
  }

  /** Drops what has not begun: the thread that holds its descriptors ends, and their numbers become those of other files. */
  close(): void {
    this.#waiting.clear();
  }

  #next(): void {
    for (const [layer, waiting] of this.#waiting) {
      if (this.#running >= AT_ONCE) return;
      this.#waiting.delete(layer);
      const copy = waiting.shift()!;
      if (waiting.length > 0) this.#waiting.set(layer, waiting);
      void this.#run(copy);
    }
  }

  async #run(copy: BackgroundCopy): Promise<void> {
    this.#running++;
    const errno = await this.#copy(copy);
    this.#running--;
    this.#ended(copy.id, errno);
    this.#next();
  }
}

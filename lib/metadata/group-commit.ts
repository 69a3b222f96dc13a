import { ServiceError } from '../errors.ts';

interface Change {
  undo(): void;
  resolve(): void;
  reject(error: ServiceError): void;
}

/**
 * Many changes, few writes: those made while one write runs share the next. A change is acknowledged only by the
 * write that holds it. A failed write undoes every change not yet acknowledged, newest first, also those that came
 * while it ran, since they may rest on the ones that are lost.
 */
export class GroupCommit {
  readonly #write: () => Promise<void>;
  readonly #failed: (error: unknown) => void;
  #waiting: Change[] = [];
  #writing: Promise<void> | undefined;
  #closed = false;
  /** After a failure a crash may leave either state; the next good write settles it. */
  #uncertain = false;

  /** `write` makes the present memory durable; it takes its copy of it before its first await. */
  constructor(write: () => Promise<void>, failed: (error: unknown) => void) {
    this.#write = write;
    this.#failed = failed;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The change is in memory already; resolves when it is durable. */
  add(undo: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ undo, resolve, reject });
      this.#writing ??= this.#run();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#writing;
    if (this.#uncertain) await this.#write().catch(this.#failed);
  }

  async #run(): Promise<void> {
    // Changes of the same tick belong to one write.
    await undefined;
    while (this.#waiting.length > 0) {
      const written = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write();
        this.#uncertain = false;
        for (const change of written) change.resolve();
      } catch (error) {
        this.#undo([...written, ...this.#waiting], error);
      }
    }
    this.#writing = undefined;
  }

  #undo(changes: readonly Change[], cause: unknown): void {
    this.#waiting = [];
    this.#uncertain = true;
    for (const change of changes.toReversed()) change.undo();
    this.#failed(cause);
    const error = new ServiceError('UNAVAILABLE', 'the change could not be stored; nothing was changed', [], { cause });
    for (const change of changes) change.reject(error);
  }
}

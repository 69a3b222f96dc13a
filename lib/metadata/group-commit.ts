import { ServiceError } from '../errors.ts';

interface Waiting<C> {
  /** undefined: it only waits for those before it. */
  readonly change: { readonly of: C } | undefined;
  undo(): void;
  resolve(): void;
  reject(error: ServiceError): void;
}

/**
 * Group commit: changes made during one write share the next. A change is acknowledged only by the write that contains
 * it. A failed write rolls back all unacknowledged changes, newest first, including those made while it ran, since they
 * may depend on the lost ones.
 */
export class GroupCommit<C> {
  readonly #write: (changes: readonly C[]) => Promise<void>;
  readonly #failed: (error: unknown) => void;
  #waiting: Waiting<C>[] = [];
  #writing: Promise<void> | undefined;
  #closed = false;
  /** After a failure either state may survive a crash, until the next successful write. */
  #uncertain = false;

  #failures = 0;

  /**
   * `write` makes the changes durable, all or none; those before them are. Without changes it only makes certain that
   * those of failed writes are not.
   */
  constructor(write: (changes: readonly C[]) => Promise<void>, failed: (error: unknown) => void) {
    this.#write = write;
    this.#failed = failed;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Number of writes that failed. */
  get failures(): number {
    return this.#failures;
  }

  /** Resolves when all changes that were made before are durable; rejects if one of them could not be stored. */
  settled(): Promise<void> {
    return this.#enqueue(undefined, () => undefined);
  }

  /** The change is in memory already; resolves when it is durable. */
  add(change: C, undo: () => void): Promise<void> {
    return this.#enqueue({ of: change }, undo);
  }

  #enqueue(change: Waiting<C>['change'], undo: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, undo, resolve, reject });
      this.#writing ??= this.#run();
    });
  }

  /** Waits for the write in progress, and repeats it once if its outcome is uncertain. Later changes are refused. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#writing;
    if (this.#uncertain) await this.#write([]).catch(this.#failed);
  }

  async #run(): Promise<void> {
    // Changes of the same tick share one write.
    await undefined;
    while (this.#waiting.length > 0) {
      const written = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(written.flatMap(({ change }) => (change === undefined ? [] : [change.of])));
        this.#uncertain = false;
        for (const change of written) change.resolve();
      } catch (error) {
        this.#undo([...written, ...this.#waiting], error);
      }
    }
    this.#writing = undefined;
  }

  #undo(changes: readonly Waiting<C>[], cause: unknown): void {
    this.#waiting = [];
    this.#uncertain = true;
    this.#failures++;
    for (const change of changes.toReversed()) change.undo();
    this.#failed(cause);
    const message = `the change could not be stored${whyOf(cause)}; nothing was changed`;
    const error = new ServiceError('UNAVAILABLE', message, [], { cause });
    for (const change of changes) change.reject(error);
  }
}

/** Names the fault of the disk, to follow "could not be stored". */
function whyOf(cause: unknown): string {
  switch ((cause as NodeJS.ErrnoException | undefined)?.code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return ': the disk of the metadata (storage.db_path) is full';
    case 'EROFS':
      return ': the disk of the metadata (storage.db_path) is read-only';
    case 'EIO':
      return ': the disk of the metadata (storage.db_path) fails';
    default:
      return '';
  }
}

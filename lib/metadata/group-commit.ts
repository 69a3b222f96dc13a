import { ServiceError } from '../errors.ts';

interface Change {
  undo(): void;
  resolve(): void;
  reject(error: ServiceError): void;
}

/**
 * Group commit: changes made during one write share the next. A change is acknowledged only by the write that contains
 * it. A failed write rolls back all unacknowledged changes, newest first, including those made while it ran, since they
 * may depend on the lost ones.
 */
export class GroupCommit {
  readonly #write: () => Promise<void>;
  readonly #failed: (error: unknown) => void;
  #waiting: Change[] = [];
  #writing: Promise<void> | undefined;
  #closed = false;
  /** After a failure either state may survive a crash, until the next successful write. */
  #uncertain = false;

  /** `write` makes the present memory durable; it must copy it before its first await. */
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

  /** Waits for the write in progress, and repeats it once if its outcome is uncertain. Later changes are refused. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#writing;
    if (this.#uncertain) await this.#write().catch(this.#failed);
  }

  async #run(): Promise<void> {
    // Changes of the same tick share one write.
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

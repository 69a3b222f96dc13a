import { EIO, Errno } from '../../linux/errno.ts';

/** Damaged or missing data on disk: EIO for programs, DATA_LOSS for API clients. */
export class Damage extends Errno {
  /** One sentence without its full stop, for logs and for the status of a sandbox. */
  readonly message: string;
  /** The host file or directory, if only the reader that throws knows it. */
  readonly path: string | undefined;

  constructor(message: string, path?: string) {
    super(EIO.errno);
    this.message = message;
    this.path = path;
  }

  override toString(): string {
    return this.message;
  }
}

/**
 * Converts an exception of replaying a journal: host errors stay as they are; any other exception means a journal that
 * no server wrote.
 */
export function asDamage(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || 'errno' in thrown) return thrown;
  return new Damage(`its journal cannot be applied: ${thrown.message}`);
}

import { EIO, Errno } from '../../linux/errno.ts';

/** What is on the disk is not what was written there, or is gone: EIO to programs, DATA_LOSS to callers of the service. */
export class Damage extends Errno {
  /** One sentence without its end, for logs and for a sandbox's reason. */
  readonly message: string;
  /** The host file or directory, where only the reader that throws knows it. */
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

/** What reading a journal threw: what the host refused is left as it is, anything else is a journal that no server wrote. */
export function asDamage(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || 'errno' in thrown) return thrown;
  return new Damage(`its journal cannot be applied: ${thrown.message}`);
}

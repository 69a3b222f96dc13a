import { Errno } from '../../filesystem.ts';
import { EIO } from '../errno.ts';

/** What is on the disk is not what was written there, or is gone: EIO to programs, DATA_LOSS to callers of the service. */
export class Damage extends Errno {
  /** One sentence without its end, for logs and for a sandbox's reason. */
  readonly message: string;

  constructor(message: string) {
    super(EIO.errno);
    this.message = message;
  }

  override toString(): string {
    return this.message;
  }
}

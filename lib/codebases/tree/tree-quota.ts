import type { UploadRoom } from '../../host-tree/upload-room.ts';
import type { Totals } from '../../trees/format/totals.ts';
import type { StagedLimits } from '../archive/refused-imports.ts';
import type { OwnerShare } from '../owner-quota.ts';
import { type CodebaseLimits, refusalBy } from '../quota.ts';
import type { Contents } from '../totals.ts';

/**
 * The limits of a codebase, of the bytes of all codebases of its owner, and of the disk. A codebase that already exceeds them
 * may be changed as long as the exceeded number does not grow.
 */
export class TreeQuota {
  readonly #limits: CodebaseLimits;
  readonly #share: OwnerShare;
  readonly #disk: Pick<UploadRoom, 'bytes' | 'admitting'>;

  constructor(limits: CodebaseLimits, share: OwnerShare, disk: Pick<UploadRoom, 'bytes' | 'admitting'>) {
    this.#limits = limits;
    this.#share = share;
    this.#disk = disk;
  }

  /** Bytes that it may grow by. */
  room(held: Readonly<Contents>): number {
    const { maxBytes } = this.#limits;
    return Math.min(maxBytes === 0 ? Number.POSITIVE_INFINITY : maxBytes - held.bytes, this.#share.room());
  }

  /** The most that it may hold; what already exceeds a limit may be replaced by as much. */
  most(held: Readonly<Contents>): StagedLimits {
    const { maxBytes, maxFiles } = this.#limits;
    const entries = held.files + held.directories;
    const own = maxBytes === 0 ? Number.POSITIVE_INFINITY : Math.max(maxBytes, held.bytes);
    const bytes = Math.min(own, held.bytes + Math.max(0, this.#share.room()));
    const onDisk = held.bytes + this.#disk.bytes;
    return {
      bytes: Math.min(bytes, onDisk),
      entries: maxFiles === 0 ? Number.POSITIVE_INFINITY : Math.max(maxFiles, entries),
      ofDisk: onDisk < bytes,
    };
  }

  /** Throws RESOURCE_EXHAUSTED if a file that is received, and has so many bytes by now, fills the disk. */
  admitting(): (size: number) => void {
    return this.#disk.admitting();
  }

  /**
   * Throws RESOURCE_EXHAUSTED if the growth exceeds a limit. `before`: growth of changes that are made together with this one,
   * which neither `held` nor the codebases of the owner have yet.
   */
  admit(held: Readonly<Contents>, growth: Readonly<Contents>, before: Readonly<Contents> = NOTHING): void {
    const bytes = before.bytes + growth.bytes;
    const refusal = refusalBy(this.#limits, sum(held, before), growth);
    const refused = refusal ?? (growth.bytes > 0 && this.#share.isLimited() ? this.#share.refusal(bytes) : undefined);
    if (refused !== undefined) throw refused;
  }

  /** Counts growth for the other codebases of the owner until `release`. */
  reserve(bytes: number): void {
    this.#share.reserve(bytes);
  }

  release(): void {
    this.#share.release();
  }
}

export const NOTHING: Readonly<Contents> = { files: 0, bytes: 0, directories: 0 };

export function sum(a: Readonly<Contents>, b: Readonly<Contents>): Contents {
  return { files: a.files + b.files, bytes: a.bytes + b.bytes, directories: a.directories + b.directories };
}

export function contentsOf({ files, bytes, directories }: Totals): Contents {
  return { files, bytes, directories };
}

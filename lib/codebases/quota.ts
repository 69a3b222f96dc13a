import { ServiceError } from '../errors.ts';
import type { KeptTotals } from './kept-totals.ts';
import type { OwnerShare } from './owner-quota.ts';
import type { Contents, Totals } from './totals.ts';

/** Limits of each codebase; 0: no limit. */
export interface CodebaseLimits {
  /** `storage.max_codebase_bytes`: sum of the sizes of files and symlinks. */
  maxBytes: number;
  /** `storage.max_codebase_files`: number of files, symlinks and directories. */
  maxFiles: number;
}

/**
 * Enforces the limits of a codebase, and of the bytes of all codebases of its owner. One that already exceeds them may be changed as long as the exceeded number does
 * not grow. All methods except `room` must be called in the order of the codebase's changes.
 */
export class Quota {
  readonly #limits: CodebaseLimits;
  readonly #kept: KeptTotals;
  readonly #totals: Totals;
  readonly #share: OwnerShare;

  constructor(limits: CodebaseLimits, kept: KeptTotals, share: OwnerShare) {
    this.#limits = limits;
    this.#kept = kept;
    this.#totals = kept.totals;
    this.#share = share;
  }

  /** Number of bytes that can be added; undefined if unknown before the first `admit`. */
  get room(): number | undefined {
    const { maxBytes } = this.#limits;
    if (maxBytes === 0) return this.#share.room();
    return this.#totals.known && Math.min(maxBytes - this.#totals.known.bytes, this.#share.room());
  }

  /**
   * The most that the codebase may hold, as far as it is known; what already exceeds a limit may be replaced by as much.
   * Infinity: no limit.
   */
  get most(): { bytes: number; entries: number } {
    const { maxBytes, maxFiles } = this.#limits;
    const held = this.#totals.known;
    const [bytes, entries] = held === undefined ? [0, 0] : [held.bytes, held.files + held.directories];
    const own = maxBytes === 0 ? Number.POSITIVE_INFINITY : Math.max(maxBytes, bytes);
    return {
      bytes: Math.min(own, bytes + Math.max(0, this.#share.room())),
      entries: maxFiles === 0 ? Number.POSITIVE_INFINITY : Math.max(maxFiles, entries),
    };
  }

  /** Throws RESOURCE_EXHAUSTED if the growth exceeds a limit. Counts the codebase if necessary. */
  async admit(growth: Readonly<Contents>): Promise<void> {
    if (this.#limits.maxBytes === 0 && this.#limits.maxFiles === 0 && !this.#share.isLimited()) return;
    const held = this.#totals.known ?? (await this.#kept.count());
    if (this.#refusal(held, growth) === undefined) return this.#share.reserve(growth.bytes);
    // Totals that were never counted refuse nothing.
    const refusal = this.#refusal(this.#totals.exact ? held : await this.#kept.count(), growth);
    if (refusal !== undefined) throw refusal;
    this.#share.reserve(growth.bytes);
  }

  #refusal(held: Readonly<Contents>, growth: Readonly<Contents>): ServiceError | undefined {
    return refusalBy(this.#limits, held, growth) ?? (growth.bytes > 0 ? this.#share.refusal(growth.bytes) : undefined);
  }
}

/** RESOURCE_EXHAUSTED if a codebase that holds so much may not grow by this much. */
export function refusalBy(
  { maxBytes, maxFiles }: CodebaseLimits,
  held: Readonly<Contents>,
  growth: Readonly<Contents>,
): ServiceError | undefined {
  const bytes = held.bytes + growth.bytes;
  if (growth.bytes > 0 && maxBytes > 0 && bytes > maxBytes) {
    return tooMuch(`${bytes} bytes`, maxBytes, 'storage.max_codebase_bytes');
  }
  const added = growth.files + growth.directories;
  const files = held.files + held.directories + added;
  if (added > 0 && maxFiles > 0 && files > maxFiles) {
    return tooMuch(`${files} files and directories`, maxFiles, 'storage.max_codebase_files');
  }
  return undefined;
}

function tooMuch(what: string, limit: number, key: string): ServiceError {
  return new ServiceError('RESOURCE_EXHAUSTED', `the codebase would hold ${what}, the most is ${limit} (${key})`);
}

import type { ByteString } from '../../byte-string.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';
import { topOf } from './new-directories.ts';
import { typeOf } from './shown-change.ts';
import { isSmall } from './small-contents.ts';

/** Limit of the batches of one commit: what is refused later was staged in vain. */
const MAX_BATCHES = 64;
/** Batches in memory at once. */
const MAX_WAITING = 4;

/** What a commit stages before all its changes are known: small files that are not in a new directory. */
export class StagedAhead {
  readonly #newDirectories = new Set<ByteString>();
  readonly #waiting: Promise<void>[] = [];
  #batches = 0;
  #ended = false;
  #failed = false;
  #written: Promise<void> = Promise.resolve();

  /** Those of the next changes, in the order of their paths; none once a commit of the changes is likely to be refused. */
  chosen(changes: readonly WorkspaceChange[]): WorkspaceChange[] {
    this.#ended ||= changes.some(({ conflict, writable, left }) => left === undefined && (conflict || !writable));
    if (this.#ended) return [];
    return changes.filter((change) => {
      const { path, now, base, contentChanged, left } = change;
      if (now === undefined || topOf(path, this.#newDirectories) !== undefined) return false;
      // Staged as a whole with what is in it, which follows in this order.
      if (base === undefined && typeOf(now) === 'TYPE_DIRECTORY') this.#newDirectories.add(path);
      return left === undefined && contentChanged && isSmall(change);
    });
  }

  /** Waits while too much is in memory. Returns false if no more is to be staged ahead. */
  async hasRoom(): Promise<boolean> {
    if (this.#waiting.length >= MAX_WAITING) await this.#waiting.shift();
    return !this.#ended && this.#batches++ < MAX_BATCHES;
  }

  /** Writes a batch after those before. After a failure nothing more is written. */
  add(write: () => Promise<void>): void {
    this.#written = this.#written.then(() => (this.#failed ? undefined : write())).catch(() => this.fail());
    this.#waiting.push(this.#written);
  }

  fail(): void {
    this.#ended = true;
    this.#failed = true;
  }

  /** When what was added is written. Never rejects. */
  get written(): Promise<void> {
    return this.#written;
  }
}

import type { Disk } from '../../../disk/disk.ts';
import { collectGarbage } from './collect-garbage.ts';
import type { OpenCodebase } from './open-codebase.ts';

/** Milliseconds from one collection of a store to its next one. */
const EVERY_MS = 60_000;

export interface GarbageOptions {
  /** Bytes that may be garbage in any case. */
  readonly least: number;
  /** Is told what prevented a collection, after which nothing was removed. */
  failed(id: string, error: unknown): void;
}

/** Collects the garbage of the stores of a thread, of one at a time. */
export class GarbageTurns {
  readonly #disk: Disk;
  readonly #options: GarbageOptions;
  #collecting: OpenCodebase | undefined;
  #isClosed = false;

  constructor(disk: Disk, options: GarbageOptions) {
    this.#disk = disk;
    this.#options = options;
  }

  /**
   * Begins one if there may be much. `leave` is called at its end, which never rejects; until then the codebase has one user more.
   */
  look(id: string, open: OpenCodebase, leave: () => void): void {
    if (this.#collecting !== undefined || this.#isClosed || !this.#isDue(open)) return;
    this.#collecting = open;
    open.users++;
    open.collectedAt = performance.now();
    void this.#collect(id, open).finally(() => {
      this.#collecting = undefined;
      leave();
    });
  }

  close(): void {
    this.#isClosed = true;
  }

  #isDue(open: OpenCodebase): boolean {
    const head = open.heads.read();
    if (head === undefined) return false;
    const { bytes } = head.root.totals;
    if (open.stored - bytes <= Math.max(this.#options.least, bytes / 4)) return false;
    return open.collectedAt === undefined || performance.now() - open.collectedAt >= EVERY_MS;
  }

  async #collect(id: string, open: OpenCodebase): Promise<void> {
    const { store, codebase, reads } = open;
    const before = open.stored;
    const collected = { store, disk: this.#disk, head: () => codebase.head, reads };
    try {
      await collectGarbage(collected, () => this.#isClosed || open.isForgotten);
      if (!this.#isClosed && !open.isForgotten) open.stored = leastStored(open) + open.stored - before;
    } catch (error) {
      if (!open.isForgotten) this.#options.failed(id, error);
    }
  }
}

/** Bytes that are known to be stored: what else there is, nobody counts before the next collection. */
export function leastStored({ store, heads }: Pick<OpenCodebase, 'store' | 'heads'>): number {
  const packed = store.packs().reduce((sum, { bytes }) => sum + bytes, 0);
  return Math.max(packed, heads.read()?.root.totals.bytes ?? 0);
}

import type { PageFlusher } from '../fuse/connection/page-flusher.ts';
import type { SharedMappings } from '../linux/shared-mappings.ts';

/** Looks for files whose mappings have changed meanwhile. */
const ATTEMPTS = 3;

/** What `MappedPages` needs. */
export interface MappedPagesOptions {
  /**
   * The files that programs of a workspace have mapped with MAP_SHARED; undefined: it cannot be known. Called once at a
   * time for each workspace.
   */
  mapped(id: string): Promise<SharedMappings | undefined>;
  flusher: Pick<PageFlusher, 'flush'>;
  /** Writes back the pages of all workspaces, where those of one cannot be found. */
  flushAll(): Promise<void>;
}

interface Flushes {
  /** Settles with the one in progress. */
  current: Promise<unknown>;
  /** Has not begun: everybody who asks gets it. */
  next: Promise<void> | undefined;
}

/**
 * Writes back the pages that programs have changed through mappings, of one workspace. Only a shared mapping can have
 * pages that its file lacks: write(2) passes data on at once, and both close(2) and munmap(2) write pages back.
 */
export class MappedPages {
  readonly #options: MappedPagesOptions;
  readonly #flushes = new Map<string, Flushes>();

  constructor(options: MappedPagesOptions) {
    this.#options = options;
  }

  /** Writes back what was changed before this call. Waits for no other workspace. */
  flush(id: string): Promise<void> {
    let flushes = this.#flushes.get(id);
    if (flushes === undefined) {
      flushes = { current: Promise.resolve(), next: undefined };
      this.#flushes.set(id, flushes);
    }
    flushes.next ??= this.#begin(id, flushes);
    return flushes.next;
  }

  async #begin(id: string, flushes: Flushes): Promise<void> {
    await flushes.current;
    const flushed = this.#flush(id);
    flushes.next = undefined;
    flushes.current = flushed.catch(() => undefined);
    try {
      await flushed;
    } finally {
      if (flushes.next === undefined && this.#flushes.get(id) === flushes) this.#flushes.delete(id);
    }
  }

  async #flush(id: string): Promise<void> {
    const { mapped, flusher, flushAll } = this.#options;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const files = await mapped(id);
      if (files === undefined) break;
      if (files.size === 0) return;
      const flushed = await flusher.flush(files.values());
      if (flushed) return;
      if (flushed === undefined) break;
      // A mapping was removed or divided meanwhile.
    }
    await flushAll();
  }
}

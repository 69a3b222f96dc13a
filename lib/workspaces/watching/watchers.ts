import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { Children } from '../../fuse/connection/children.ts';
import type { ToldChange, ToldChanges } from './told-changes.ts';
import { TOUCHER, touchLines } from './touch-lines.ts';

/** Changes of one workspace that wait for a look at its watches. */
const MOST_WAITING = 4096;
/** After a look that found nothing to tell the workspace is left alone for so many times as long. */
const PAUSE_FACTOR = 9;

interface Options {
  mountPoint: string;
  /** The inode numbers that programs of a workspace watch. */
  watched(id: string): Promise<ReadonlySet<number>>;
  /** See `WorkspaceOperations.toldNames`. */
  toldNames(id: string, directories: readonly number[]): Promise<void>;
}

interface Waiting {
  changes: ToldChange[];
  ruled: number[];
}

/**
 * Has the kernel tell programs of what was changed from outside in what they watch. Nobody waits for it. Without watches it costs
 * a look at the descriptors of the sandbox's processes. The caller calls `close`.
 */
export class Watchers {
  readonly #options: Options;
  readonly #touchers = new Children(() =>
    spawn('perl', ['-e', TOUCHER], { cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] }),
  );
  readonly #waiting = new Map<string, Waiting>();
  #closed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Never throws. */
  tell({ id, place, changes, ruled }: ToldChanges): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) {
      this.#waiting.set(id, { changes, ruled });
      void this.#work(id, place);
      return;
    }
    waiting.changes.push(...changes.slice(0, Math.max(0, MOST_WAITING - waiting.changes.length)));
    waiting.ruled.push(...ruled.slice(0, Math.max(0, MOST_WAITING - waiting.ruled.length)));
  }

  /** Ends the children when they have answered. */
  close(): void {
    this.#closed = true;
    this.#touchers.close();
  }

  async #work(id: string, place: string): Promise<void> {
    try {
      for (let waiting = this.#waiting.get(id); waiting !== undefined && !this.#closed; waiting = this.#next(id)) {
        const began = performance.now();
        const watched = await this.#options.watched(id);
        // What has come meanwhile is told of, too.
        this.#waiting.set(id, { changes: [], ruled: [] });
        const { changes, ruled } = waiting;
        const lines = watched.size === 0 ? [] : touchLines(this.#options.mountPoint, place, changes, watched);
        if (lines.length > 0) await this.#touchers.ask(lines);
        if (ruled.length > 0) await this.#options.toldNames(id, [...new Set(ruled.filter((ino) => watched.has(ino)))]);
        if (lines.length === 0) await delay(PAUSE_FACTOR * (performance.now() - began), undefined, { ref: false });
      }
    } catch {
      // The sandbox has ended.
    } finally {
      this.#waiting.delete(id);
    }
  }

  #next(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    return waiting !== undefined && waiting.changes.length + waiting.ruled.length > 0 ? waiting : undefined;
  }
}

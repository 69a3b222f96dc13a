import { TarReader } from '../../archive/tar-reader.ts';
import type { ByteString } from '../../byte-string.ts';
import type { ImportMode } from '../../field-values.ts';
import { serveThread } from '../../threads/serve-thread.ts';
import type { Contents } from '../totals.ts';
import { applyGraft, type GraftPlan, planGraft } from './graft.ts';
import { exceeded, type StagedLimits } from './refused-imports.ts';
import { type StagedCounts, StagedTree } from './staged-tree.ts';

/** A staged archive. */
export interface Staged {
  counts: StagedCounts;
  contents: Contents;
}

/** Paths in one message: a millisecond or so of the main thread. */
export const LISTED = 1024;

/**
 * The part of an import into a codebase that runs in a thread of its own: it writes the archive to a staging directory,
 * plans the change of the codebase, and makes it.
 */
export class TreeImport {
  #tree: StagedTree | undefined;
  #reader: TarReader | undefined;
  #plan: GraftPlan | undefined;

  /** `staging`: an existing empty directory. */
  open(staging: string, limits: StagedLimits): void {
    this.#tree = new StagedTree(staging, limits, (contents) => exceeded(contents, limits));
    this.#reader = new TarReader(this.#tree);
  }

  /** Writes the next bytes of the archive. Returns whether its end was read. */
  feed(piece: Uint8Array): boolean {
    const reader = this.#opened(this.#reader);
    reader.feed(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    return reader.isDone;
  }

  /** Completes the staged tree. */
  finish(): Staged {
    this.#opened(this.#reader).finish();
    const tree = this.#opened(this.#tree);
    tree.finish();
    return { counts: tree.counts, contents: tree.contents };
  }

  /** See `planGraft`. Returns the growth; the paths are read by `listed`. */
  plan(
    staging: string,
    files: string,
    options: { mode: ImportMode; staged: Contents; held: Contents; lists: boolean },
  ): Contents {
    this.#plan = planGraft(staging, files, options);
    return this.#plan.growth;
  }

  /** Up to `LISTED` paths of the plan, from this one on. */
  listed(list: 'paths' | 'removed', from: number): ByteString[] {
    return this.#opened(this.#plan)[list].slice(from, from + LISTED);
  }

  /** See `applyGraft`. */
  apply(staging: string, files: string): void {
    applyGraft(staging, files);
  }

  close(): void {
    this.#tree?.close();
    this.#tree = undefined;
    this.#reader = undefined;
    this.#plan = undefined;
  }

  #opened<T>(part: T | undefined): T {
    if (part === undefined) throw new Error('open comes before the archive');
    return part;
  }
}

/** Runs the thread of the role `tree-import`. */
export function runTreeImport(): void {
  serveThread(() => new TreeImport());
}

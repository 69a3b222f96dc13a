import type { Log } from '../log.ts';
import type { ChangeLog } from './change-log.ts';
import type { DurableFile, FileSystem } from './durable-file.ts';
import type { GroupCommit } from './group-commit.ts';
import { segmentPath, segmentsOf } from './load.ts';
import { type Position, snapshotPieces } from './snapshot.ts';
import type { Change, State } from './state.ts';

/** Segments, of which each start of a server makes one. */
const MOST_SEGMENTS = 32;

/** The snapshot was given up: its server ends, or a change that may be in it was undone. */
class GivenUp extends Error {}

interface Parts {
  file: DurableFile;
  changes: ChangeLog;
  commit: GroupCommit<Change>;
  state: State;
  fileSystem: FileSystem;
  log: Log;
  /** Bytes of changes that are always kept as they are. */
  leastBytes: number;
}

/**
 * Replaces the snapshot when the log has become larger than it, so that a change costs what it changes, and the start of
 * a server what is on record. Changes continue meanwhile: they go to a new segment, which the new snapshot needs. The
 * segments between the last snapshot, which becomes the backup, and the new one are kept with it.
 */
export class Compaction {
  readonly #parts: Parts;
  /** The first segment of the present snapshot. */
  #firstLog: number;
  #dueAt: number;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(parts: Parts, present: { firstLog: number; snapshotBytes: number; segments: number }) {
    this.#parts = parts;
    this.#firstLog = present.firstLog;
    this.#dueAt = present.segments > MOST_SEGMENTS ? 0 : this.#dueAfter(present.snapshotBytes);
  }

  /** Call after each change. Starts a compaction if it is time. */
  look(): void {
    if (this.#closed || this.#running !== undefined || this.#parts.changes.bytes <= this.#dueAt) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Gives up the compaction in progress. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { changes, log } = this.#parts;
    try {
      const { bytes: before, ...position } = await changes.rotate();
      const written = await this.#replace(position);
      changes.bytes -= before;
      this.#dueAt = this.#dueAfter(written);
      await this.#removeBefore(this.#firstLog);
      this.#firstLog = position.log;
    } catch (err) {
      // Again when the log has grown by another part: each change is durable without it.
      this.#dueAt = changes.bytes + Math.max(this.#parts.leastBytes, this.#dueAt / 4);
      if (!this.#closed) log.warn('metadata could not be compacted, will retry', { err });
    }
  }

  /** Returns the size of the new snapshot. */
  async #replace(position: Position): Promise<number> {
    const { file, commit, state } = this.#parts;
    const { failures } = commit;
    let bytes = 0;
    const counted = function* (this: Compaction) {
      for (const piece of snapshotPieces(state, position)) {
        if (this.#closed || commit.failures !== failures) throw new GivenUp('given up');
        bytes += piece.length;
        yield piece;
      }
    };
    await file.replace(counted.call(this), async () => {
      // A change that is in the snapshot must not be undone after it.
      await commit.settled();
      if (commit.failures !== failures) throw new GivenUp('a change was undone');
    });
    return bytes;
  }

  async #removeBefore(first: number): Promise<void> {
    const { file, fileSystem } = this.#parts;
    for (const log of await segmentsOf(file.path, fileSystem)) {
      if (log < first) await fileSystem.rm(segmentPath(file.path, log), { force: true });
    }
  }

  #dueAfter(snapshotBytes: number): number {
    return Math.max(this.#parts.leastBytes, snapshotBytes);
  }
}

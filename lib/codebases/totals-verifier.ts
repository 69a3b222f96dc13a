import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { CodebaseTable } from '../metadata/metadata.ts';
import { countFiles, rest } from './count-files.ts';
import { isSame, type TotalsRecord } from './kept-totals.ts';

/** From the end of one verification of all codebases to the next. */
const EVERY_MS = 24 * 3600 * 1000;

/** The totals in the record of a codebase. */
export function totalsRecord(records: CodebaseTable, id: string): TotalsRecord {
  return {
    read: () => records.get(id)?.contents,
    write: async (contents) => {
      const record = records.get(id);
      if (record !== undefined) await records.advance(record, { ...record, contents });
    },
  };
}

/** A codebase in use, which counts for itself. */
interface Verifiable {
  verify(isPaced: boolean): Promise<void>;
}

/**
 * Counts all codebases, one after another: those first whose totals are not known, of an earlier release or after a crash.
 * The others may have files that were added by hand.
 */
export class TotalsVerifier {
  readonly #filesOf: (id: string) => string;
  readonly #inUse: ReadonlyMap<string, Verifiable>;
  readonly #records: CodebaseTable;
  readonly #log: Log;
  #isClosed = false;

  constructor(
    filesOf: (id: string) => string,
    inUse: ReadonlyMap<string, Verifiable>,
    { records, log }: { records: CodebaseTable; log: Log },
  ) {
    this.#filesOf = filesOf;
    this.#inUse = inUse;
    this.#records = records;
    this.#log = log;
  }

  /** Call when the server answers: verifies in the background, now and each day. Never rejects. */
  async keep(): Promise<void> {
    while (!this.#isClosed) {
      await this.verifyAll(true);
      await delay(EVERY_MS, undefined, { ref: false });
    }
  }

  /** Ends at the next entry after `close`. Never rejects. */
  async verifyAll(isPaced: boolean): Promise<void> {
    const all = [...this.#records.values()];
    for (const known of [false, true]) {
      for (const { id, contents } of all) {
        if ((contents?.isExact ?? false) !== known) continue;
        if (this.#isClosed) return;
        // Calls that need files which cannot be read tell of it.
        const failed = (err: unknown) => this.#log.debug('a codebase could not be counted', { codebase_id: id, err });
        const began = performance.now();
        await this.#verify(id, isPaced).catch(failed);
        // Most are counted before their own pace applies.
        if (isPaced) await rest(began);
      }
    }
  }

  close(): void {
    this.#isClosed = true;
  }

  async #verify(id: string, isPaced: boolean): Promise<void> {
    const record = this.#records.get(id);
    if (record === undefined) return;
    if (!this.#inUse.has(id)) {
      const isInterrupted = () => this.#isClosed || this.#inUse.has(id);
      const counted = await countFiles(this.#filesOf(id), { isInterrupted, isPaced });
      // It is not in use, so nothing has changed it.
      if (counted !== undefined && !(record.contents?.isExact && isSame(counted, record.contents))) {
        await this.#records.advance(record, { ...record, contents: { ...counted, isExact: true } });
      }
    }
    await this.#inUse.get(id)?.verify(isPaced);
  }
}

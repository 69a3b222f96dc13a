import { randomUUID } from 'node:crypto';
import type { Log } from '../log.ts';
import { countFiles } from './count-files.ts';
import type { ObserveChange } from './observe-change.ts';
import { type Contents, Totals } from './totals.ts';

/** Milliseconds without a change after which the totals are kept. */
const QUIET_MS = 2000;

/** As of the time of writing; not exact: the codebase has changed since. */
export type KeptContents = Readonly<Contents & { isExact: boolean; revision?: string }>;

/** The place of the totals in the record of a codebase. */
export interface TotalsRecord {
  read(): KeptContents | undefined;
  /** Durable when it resolves. */
  write(contents: KeptContents): Promise<void>;
}

/**
 * Keeps the totals of a codebase in its record, so that no request has to count. Before the first change the record says
 * that they are not exact any more: a crash leaves them to be counted again in the background. Some time after the last
 * change they are kept again, and counted first if a failed change made them unknown.
 */
export class KeptTotals {
  readonly totals: Totals;
  readonly #root: string;
  readonly #record: TotalsRecord;
  readonly #log: Log;
  #isKept: boolean;
  #revision: string;
  /** Changes in progress, and the number of changes that began. */
  #changing = 0;
  #begun = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  /** Of the record, one after another. */
  #writes: Promise<void> = Promise.resolve();

  /** `root`: directory of the files. */
  constructor(root: string, record: TotalsRecord, log: Log) {
    const kept = record.read();
    this.#root = root;
    this.#record = record;
    this.#log = log;
    this.#isKept = kept?.isExact === true;
    this.totals = new Totals(kept, this.#isKept);
    this.#revision = (this.#isKept && kept?.revision) || randomUUID();
  }

  /** Names the present files: no other ones of this codebase have it. */
  get revision(): string {
    return this.#revision;
  }

  /** Returns what every visible change must run in. */
  around(observe: ObserveChange): ObserveChange {
    return async (...change) => {
      this.#changing++;
      this.#begun++;
      try {
        await this.expectChange();
        // Before the change can be seen, so that who knows this one knows only a part of the change at most.
        this.#revision = randomUUID();
        await observe(...change);
      } finally {
        this.#changing--;
        this.#keepLater();
      }
    };
  }

  /** Resolves when the record says that there may be a change. May be called ahead of it, beside other work. */
  expectChange(): Promise<void> {
    this.#keepLater();
    const kept = this.#isKept ? this.totals.last : undefined;
    this.#isKept = false;
    // A full disk must not prevent the removal of files.
    const failed = 'totals of a codebase may be wrong after a crash';
    if (kept !== undefined) this.#write({ ...kept, isExact: false }, (err) => this.#log.warn(failed, { err }));
    return this.#writes;
  }

  /** Exact totals. Must not overlap with a change. */
  async count(): Promise<Readonly<Contents>> {
    const { totals } = this;
    if (totals.known === undefined || !totals.exact) totals.set(await countFiles(this.#root));
    return totals.known!;
  }

  /** Counts in the background; a change interrupts it. Throws if the files cannot be read. */
  async verify(isPaced: boolean): Promise<void> {
    const begun = this.#begun;
    const isInterrupted = () => this.#isClosed || this.#changing > 0 || this.#begun !== begun;
    const counted = await countFiles(this.#root, { isInterrupted, isPaced });
    if (counted === undefined) return;
    const isChanged = !isSame(counted, this.totals.known);
    if (isChanged) this.#revision = randomUUID();
    if (!this.totals.exact || isChanged) {
      this.totals.set(counted);
      this.#isKept = false;
    }
    if (!this.#isKept) this.#keepLater();
  }

  /** Keeps them if they are known without a count. Never rejects. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isClosed = true;
    this.#keepKnown();
    await this.#writes;
  }

  #keepLater(): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#keep(), QUIET_MS).unref();
  }

  async #keep(): Promise<void> {
    if (this.#keepKnown() || this.#changing > 0) return;
    // Its files are lost or cannot be read: calls that need them tell of it.
    await this.verify(true).catch((err: unknown) => this.#log.debug('a codebase could not be counted', { err }));
  }

  /** Returns false if they must be counted. */
  #keepKnown(): boolean {
    const { known, isWrong } = this.totals;
    if (known === undefined || isWrong || this.#changing > 0) return false;
    if (this.#isKept) return true;
    // Before it is written: a change that begins meanwhile writes after it.
    this.#isKept = true;
    this.#write({ ...known, isExact: true, revision: this.#revision }, (err) => {
      this.#isKept = false;
      this.#log.debug('totals of a codebase could not be kept', { err });
    });
    return true;
  }

  #write(contents: KeptContents, failed: (error: unknown) => void): void {
    this.#writes = this.#writes.then(() => this.#record.write(contents)).catch(failed);
  }
}

export function isSame(a: Readonly<Contents>, b: Readonly<Contents> | undefined): boolean {
  return a.files === b?.files && a.bytes === b.bytes && a.directories === b.directories;
}

import type { Journal, JournalRecord } from '../../../../lib/workspaces/tree/journal/records.ts';

export class JournalFull extends Error {}

export class MemoryJournal implements Journal {
  readonly records: JournalRecord[] = [];
  bytes = 0;
  isRooted = true;
  /** Appends until one fails. */
  failsAfter = Number.POSITIVE_INFINITY;
  readonly #heard: (record: JournalRecord) => void;

  constructor(heard: (record: JournalRecord) => void = () => {}) {
    this.#heard = heard;
  }

  append(record: JournalRecord): void {
    if (this.failsAfter-- <= 0) throw new JournalFull();
    this.records.push(record);
    this.bytes += 64;
    this.#heard(record);
  }
}

import type { Source } from '../../../trees/directory/source.ts';
import { type Entry, isDirectory } from '../../../trees/format/entry.ts';
import { fileOf, type Key, slotOf } from '../../../trees/format/keys.ts';
import { Live } from '../disk/sweep/live.ts';
import type { JournalRecord } from '../journal/records.ts';

/** The contents of one store that its journals name: they were made after its root, which does not know them. */
export class NamedContents {
  /** Of files. */
  readonly keys = new Set<Key>();
  /** In directories that came as a whole. */
  readonly below: Live;
  readonly #store: bigint;

  constructor(source: Source, store: bigint) {
    this.#store = store;
    this.below = new Live(source, store);
  }

  /** The same journals, for a replay. */
  *watching(journals: Iterable<Iterable<JournalRecord>>): Generator<Generator<JournalRecord>> {
    for (const records of journals) yield this.#watching(records);
  }

  *#watching(records: Iterable<JournalRecord>): Generator<JournalRecord> {
    for (const record of records) {
      if (record.op === 'data') this.#add(record.key);
      else if (record.op === 'put') this.#addEntry(record.entry);
      yield record;
    }
  }

  #addEntry(entry: Entry): void {
    if (!isDirectory(entry)) this.#add(entry.key);
    else for (const _ of this.below.adding(entry.key));
  }

  #add(key: Key): void {
    if ((slotOf(key) ?? fileOf(key))?.store === this.#store) this.keys.add(key);
  }
}

import { type Entry, isDirectory } from '../../../trees/format/entry.ts';
import { type Key, KIND, kindOf, NO_KEY } from '../../../trees/format/keys.ts';
import type { JournalRecord } from './records.ts';

/** The trees and contents that records name, and that must stay as long as the records may be replayed. */
export class Named {
  readonly trees = new Set<Key>();
  /** Of the codebase: a sandbox frees its own by itself. */
  readonly contents = new Set<Key>();

  note(record: JournalRecord): void {
    if (record.op === 'put') this.#entry(record.entry);
    else if (record.op === 'data') this.#contents(record.key);
    else if (record.op === 'base' || record.op === 'root') this.#entry(record.base);
    if (record.op === 'root') this.#entry(record.mine);
  }

  #entry(entry: Entry): void {
    if (!isDirectory(entry)) this.#contents(entry.key);
    else if (entry.key !== NO_KEY) this.trees.add(entry.key);
  }

  #contents(key: Key): void {
    if (kindOf(key) === KIND.hash) this.contents.add(key);
  }
}

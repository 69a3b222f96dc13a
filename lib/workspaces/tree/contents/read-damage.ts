import type { Entry } from '../../../trees/format/entry.ts';
import type { Key } from '../../../trees/format/keys.ts';
import { Damage } from '../../delta/damage.ts';

/** Limit of reported damaged contents. */
const MAX_REPORTED = 1000;

/** Reports damaged contents of a tree, each once. */
export class ReadDamage {
  readonly #report: (entry: Entry, message: string) => void;
  readonly #reported = new Set<Key>();

  constructor(report: (entry: Entry, message: string) => void) {
    this.#report = report;
  }

  /** Returns the error; `what` is wrong with the contents, and where. */
  of(entry: Entry, what: string): Damage {
    if (!this.#reported.has(entry.key) && this.#reported.size < MAX_REPORTED) {
      this.#reported.add(entry.key);
      this.#report(entry, what);
    }
    return new Damage(`a file is damaged: ${what}`);
  }
}

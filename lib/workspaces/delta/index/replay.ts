import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import { apply } from './apply.ts';
import type { Header } from './header.ts';
import type { InodeTable } from './inode-table.ts';
import type { JournalReceiver } from './read-journal.ts';
import type { Op } from './records.ts';

/** Operations applied in one step. */
const ITEMS_PER_STEP = 16;

/** Applies the lines of a journal to a table while they are read. */
export class Replay implements JournalReceiver {
  readonly header: (header: Header) => Steps<void>;
  readonly #of: { readonly table: InodeTable };
  readonly #counter = new StepCounter(ITEMS_PER_STEP);
  /** Number of lines. */
  count = 0;

  /** `header`: runs before the first line, and may replace the table. */
  constructor(of: { readonly table: InodeTable }, header: (header: Header) => Steps<void> = nothing) {
    this.#of = of;
    this.header = header;
  }

  *lines(lines: readonly Op[][]): Steps<void> {
    const { table } = this.#of;
    this.count += lines.length;
    for (const line of lines) {
      for (const op of line) {
        apply(table, op);
        if (this.#counter.count()) yield;
      }
    }
  }
}

function* nothing(): Steps<void> {
  yield;
}

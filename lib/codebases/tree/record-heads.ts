import type { ServiceError } from '../../errors.ts';
import type { CodebaseRecord, CodebaseTable, StoredHead } from '../../metadata/metadata.ts';
import type { Head } from './head.ts';
import { headOf, isSameHead } from './stored-head.ts';

/** What became of the move of a head. `present`: it was another one meanwhile; undefined: the codebase is gone. */
export type Moved =
  | { readonly moved: true }
  | { readonly present: StoredHead | undefined }
  | { readonly refused: string };

type Records = Pick<CodebaseTable, 'get' | 'advance'>;

/** The heads of codebases, in their records. */
export class RecordHeads {
  readonly #records: Records;
  readonly #refusal: (record: CodebaseRecord, growth: number) => ServiceError | undefined;
  /** Heads that were read, by what is stored of them. */
  readonly #read = new WeakMap<StoredHead, Head>();

  /** `refusal`: of growth by so many bytes, with RESOURCE_EXHAUSTED. */
  constructor(records: Records, refusal: (record: CodebaseRecord, growth: number) => ServiceError | undefined) {
    this.#records = records;
    this.#refusal = refusal;
  }

  /** Of a record with one. Throws a FormatError. */
  of({ tree }: CodebaseRecord): Head {
    let head = this.#read.get(tree!);
    if (head === undefined) {
      head = headOf(tree!);
      this.#read.set(tree!, head);
    }
    return head;
  }

  /**
   * Moves a head, if it is still `from`. Durable when it resolves. Rejects with UNAVAILABLE if it could not be stored, and then
   * it is what it was. Nothing comes between the checks and the change.
   */
  async advance(id: string, from: StoredHead, to: StoredHead): Promise<Moved> {
    const record = this.#records.get(id);
    const present = record?.tree;
    if (record === undefined || present === undefined || !isSameHead(present, from)) return { present };
    const next = Object.freeze({ ...record, tree: Object.freeze(to) });
    const growth = this.of(next).root.totals.bytes - this.of(record).root.totals.bytes;
    const refused = growth > 0 ? this.#refusal(record, growth) : undefined;
    if (refused !== undefined) return { refused: refused.message };
    await this.#records.advance(record, next);
    return { moved: true };
  }
}

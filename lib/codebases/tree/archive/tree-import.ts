import { TarReader } from '../../../archive/tar-reader.ts';
import type { ImportMode } from '../../../field-values.ts';
import type { Writing } from '../../../store/writing.ts';
import { otherRevision } from '../../archive/refused-imports.ts';
import type { ChangeQueue } from '../change-queue.ts';
import type { Edit } from '../edit.ts';
import { revisionOf } from '../head.ts';
import { timeOfMs } from '../new-entry.ts';
import { storeError } from '../store-error.ts';
import type { TreeParts } from '../tree-parts.ts';
import { contentsOf } from '../tree-quota.ts';
import { graft } from './graft.ts';
import type { StagedCounts } from './staged-counts.ts';
import { StagedMembers, type StagedTree } from './staged-members.ts';

/** With the revision that the import made. */
export type Imported = StagedCounts['shown'] & { revision: string };

/** An archive that arrives. Its members are stored at once, and become visible together. The caller must call `drop`. */
export class TreeImport {
  readonly #parts: TreeParts;
  readonly #queue: ChangeQueue;
  readonly #bulk;
  #writing: Writing | undefined;
  readonly #members: StagedMembers;
  readonly #reader: TarReader;

  constructor(parts: TreeParts, queue: ChangeQueue) {
    const { store, quota, now } = parts;
    const { root, nextIno } = parts.head();
    this.#parts = parts;
    this.#queue = queue;
    this.#bulk = store.bulk();
    queue.numbers.passOver(nextIno);
    this.#members = new StagedMembers({
      source: this.#bulk,
      writing: this.#bulk,
      numbers: queue.numbers,
      limits: quota.most(contentsOf(root.totals)),
      time: timeOfMs(now()),
    });
    this.#reader = new TarReader(this.#members);
  }

  /** Stores the next bytes. Resolves to whether the end of the archive was read. */
  async feed(piece: Uint8Array): Promise<boolean> {
    try {
      this.#reader.feed(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
      await this.#parts.run(this.#members.settle());
    } catch (error) {
      throw storeError(error);
    }
    return this.#reader.isDone;
  }

  /**
   * The archive is there: changes the codebase in one step, durably. ABORTED: the codebase has not the revision `onlyAt`;
   * empty: any.
   */
  async finish(mode: ImportMode, onlyAt: string): Promise<Imported> {
    this.#reader.finish();
    const staged = await this.#stage().catch((error) => {
      throw storeError(error);
    });
    const { head } = await this.#queue.add({
      kind: 'import',
      writing: this.#writing,
      apply: (edit) => bring(edit, staged, mode, onlyAt),
    });
    return { ...this.#members.counts.shown, revision: revisionOf(head) };
  }

  drop(): void {
    this.#members.drop();
    if (this.#writing === undefined) this.#bulk.drop();
    else this.#writing.end();
  }

  /** All is durable, and the store has it. */
  async #stage(): Promise<StagedTree> {
    const staged = await this.#parts.run(this.#members.finish());
    this.#bulk.sync();
    this.#writing = this.#parts.store.begin();
    this.#bulk.end();
    this.#writing.adopt(this.#bulk);
    return staged;
  }
}

function* bring(edit: Edit, staged: StagedTree, mode: ImportMode, onlyAt: string): Generator<void, void, void> {
  if (onlyAt !== '' && onlyAt !== revisionOf(edit.head)) throw otherRevision(onlyAt);
  yield* graft(edit, staged, mode);
  const { totals } = yield* edit.build();
  const [now, before] = [contentsOf(totals), contentsOf(edit.head.root.totals)];
  edit.admit({
    files: now.files - before.files,
    bytes: now.bytes - before.bytes,
    directories: now.directories - before.directories,
  });
}

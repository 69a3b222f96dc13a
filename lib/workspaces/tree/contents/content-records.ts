import type { Time } from '../../../trees/format/entry.ts';
import { fileKey, fileOf, type Key, NO_KEY, slotKey } from '../../../trees/format/keys.ts';
import type { ContentJournal } from '../../delta/contents/content-journal.ts';
import { type DataRef, NO_SLOT } from '../../delta/contents/stored-file.ts';
import { setData } from '../changes/contents.ts';
import type { LiveTree } from '../live-tree.ts';
import type { Numbers } from './numbers.ts';
import { slotPlace } from './slot-places.ts';
import type { TreeFile } from './tree-file.ts';

export interface RecordsIn {
  readonly store: bigint;
  readonly tree: LiveTree;
  readonly numbers: Numbers;
  readonly now: () => Time;
  readonly damaged: (file: TreeFile, message: string) => void;
  /** Called for each new data file that has a record. */
  readonly made: (file: DataRef) => void;
}

/** Records changes of contents in the journal of a live tree: what is made is born in the present epoch. */
export class ContentRecords implements ContentJournal {
  readonly #in: RecordsIn;

  constructor(where: RecordsIn) {
    this.#in = where;
  }

  placed(file: TreeFile, to: DataRef, stat?: { holes: number }): void {
    const { mtime: s, mtimeNs: ns } = file.own.entry;
    const key = to.slot === NO_SLOT ? this.#fileKey(to.id, 0) : this.#slotKey(to.slot, file.expected!);
    const sum = to.slot === NO_SLOT ? undefined : file.expected;
    setData(this.#in.tree, file.own, { key, size: file.size, holes: stat?.holes || undefined }, { s, ns });
    file.moved(to, sum);
    file.isOpen = to.slot === NO_SLOT;
    if (file.isOpen) this.#in.made(to);
  }

  changed(file: TreeFile, to: DataRef, size: number, sum: number | undefined): void {
    const isShorter = to.slot === file.data.slot && size < file.size;
    const key = to.slot === NO_SLOT ? NO_KEY : this.#slotKey(to.slot, sum!);
    setData(this.#in.tree, file.own, { key, size, holes: undefined }, this.#in.now());
    file.moved(to, sum);
    if (isShorter) file.shortened = true;
  }

  /** Its data file is about to be written in its place: until the next freeze, size and time are on the disk. */
  opened(file: TreeFile): void {
    const { size, holes, mtime: s, mtimeNs: ns } = file.own.entry;
    const version = fileOf(file.key)?.version ?? -1;
    const key = this.#fileKey(file.data.id, version + 1);
    setData(this.#in.tree, file.own, { key, size, holes }, { s, ns });
    file.isOpen = true;
  }

  /** Size and time of a data file, as they are in memory. */
  measured(file: TreeFile): void {
    const { key, size, holes, mtime: s, mtimeNs: ns } = file.own.entry;
    setData(this.#in.tree, file.own, { key, size, holes }, { s, ns });
    file.isMeasured = true;
  }

  damaged(file: TreeFile, message: string): void {
    this.#in.damaged(file, message);
  }

  #slotKey(number: number, crc: number): Key {
    const { store, tree, numbers } = this.#in;
    return slotKey({ store, ...slotPlace(number), sequence: numbers.sequence(), birth: tree.epochs.epoch, crc });
  }

  #fileKey(number: number, version: number): Key {
    const { store, tree } = this.#in;
    return fileKey({ store, number, birth: tree.epochs.epoch, version });
  }
}

import type { Time } from '../../linux/time.ts';
import type { ContentJournal } from './contents/content-journal.ts';
import type { DataStat } from './contents/data-files.ts';
import type { DataRef } from './contents/stored-file.ts';
import type { DeltaIndex } from './delta-index.ts';
import type { Inode } from './index/inode.ts';
import type { Op } from './index/records.ts';
import { sharedContents } from './layers/live-contents.ts';
import type { Retained } from './layers/retained.ts';
import type { Usage } from './usage.ts';
import { attrOp, type Committer } from './written-files.ts';

/** Records changes of contents in the journal of one delta, and counts them. */
export class ContentRecords implements ContentJournal {
  readonly #index: DeltaIndex;
  readonly #committer: Committer;
  readonly #retained: Retained;
  readonly #usage: Usage;
  readonly #now: () => Time;
  readonly damaged: ContentJournal['damaged'];

  constructor(
    index: DeltaIndex,
    committer: Committer,
    { retained, usage }: { retained: Retained; usage: Usage },
    now: () => Time,
    damaged: ContentJournal['damaged'] = () => undefined,
  ) {
    this.#index = index;
    this.#committer = committer;
    this.#retained = retained;
    this.#usage = usage;
    this.#now = now;
    this.damaged = damaged;
  }

  placed(inode: Inode, { layer, id, slot }: DataRef, file?: DataStat): void {
    const times: Op[] = file === undefined ? [] : [attrOp(inode, inode, { ...file, size: inode.size })];
    this.#commit(inode, [['place', inode.id, layer, id, slot], ...times], false);
    if (file !== undefined) this.#usage.measured(inode, { size: inode.size, holes: file.holes });
  }

  changed(inode: Inode, { layer, id, slot }: DataRef, size: number, sum: number | undefined): void {
    const { size: before, stored } = inode;
    const now = this.#now();
    const op: Op = ['data', inode.id, layer, id, slot, size, now.sec, now.nsec];
    if (sum !== undefined) op[8] = sum;
    this.#commit(inode, [op], size < before || size === 0);
    this.#usage.resized(inode, size - stored);
  }

  #commit(inode: Inode, ops: readonly Op[], makesRoom: boolean): void {
    const shared = sharedContents(inode, this.#index.top);
    this.#committer.commit(ops, makesRoom);
    if (shared !== undefined) this.#retained.superseded(shared.layer, shared.stored);
  }
}

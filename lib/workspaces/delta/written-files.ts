import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import type { Time } from '../../linux/time.ts';
import type { Listed } from '../divided-list.ts';
import type { ContentStore } from './contents/content-store.ts';
import type { Inode } from './index/inode.ts';
import { type Op, timesOf } from './index/records.ts';

/** Inodes examined in one step. */
const ITEMS_PER_STEP = 16;

/** Journals and applies operations; see `Delta`. */
export interface Committer {
  commit(ops: readonly Op[], makesRoom?: boolean): void;
  committing(ops: Listed<Op>, makesRoom?: boolean): Steps<void>;
}

/** The attributes that a record of an inode has. */
export type Attributes = Pick<Inode, 'mode' | 'uid' | 'gid' | 'atime' | 'mtime' | 'ctime'>;

/** Files whose times are newer than their record: the data file was written to since. */
export class WrittenFiles {
  readonly #contents: ContentStore;
  readonly #committer: Committer;
  readonly #inodes = new Set<Inode>();

  constructor(contents: ContentStore, committer: Committer) {
    this.#contents = contents;
    this.#committer = committer;
  }

  add(inode: Inode): void {
    this.#inodes.add(inode);
  }

  delete(inode: Inode): void {
    this.#inodes.delete(inode);
  }

  clear(): void {
    this.#inodes.clear();
  }

  /** Returns the operation that sets an inode's attributes. `fd`: its open data file. */
  attrOp(inode: Inode, to: Attributes, fd?: number): Op {
    return attrOp(inode, to, inode.hasFile ? this.#contents.fileStat(inode, fd) : undefined);
  }

  /** Records the times of those of the files that were written to. Throws host errors. */
  record(inodes: Iterable<Inode>): void {
    // Unlinked inodes are included: they may be linked, and frozen ones are described by their record.
    const written = [...inodes].filter((inode) => this.#inodes.has(inode));
    const ops = written.map((inode) => this.attrOp(inode, inode));
    if (ops.length > 0) this.#committer.commit(ops);
    for (const inode of written) this.#inodes.delete(inode);
  }

  /** As `record`, for all files. */
  recordAll(): void {
    this.record(this.#inodes);
  }

  /** As `recordAll`, in steps. */
  *recording(): Steps<void> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    const ops: Op[] = [];
    const inodes = [...this.#inodes];
    for (const inode of inodes) {
      ops.push(this.attrOp(inode, inode));
      if (counter.count()) yield;
    }
    if (ops.length > 0) yield* this.#committer.committing(ops);
    for (const inode of inodes) this.#inodes.delete(inode);
  }

  /** Copies the mtime of each data file to its inode, in steps. Called before a snapshot of the table. */
  *copyingHostTimes(): Steps<void> {
    for (const inode of this.#inodes) {
      if (inode.hasFile) inode.hostMtime = this.#contents.fileStat(inode).mtime;
      yield;
    }
    this.#inodes.clear();
  }
}

/** Returns the operation that sets an inode's attributes; `file`: mtime and size of its data file. */
export function attrOp(inode: Inode, to: Attributes, file: { mtime: Time; size: number } | undefined): Op {
  const { sec, nsec } = file?.mtime ?? { sec: 0, nsec: 0 };
  const op: Op = ['attr', inode.id, to.mode, to.uid, to.gid, timesOf(to), sec, nsec];
  if (file !== undefined) op[8] = file.size;
  return op;
}

import { differences } from '../../trees/directory/differences.ts';
import type { Source } from '../../trees/directory/source.ts';
import { type Entry, isDirectory } from '../../trees/format/entry.ts';
import { fileOf, isLocal, type Key, NO_KEY, slotOf } from '../../trees/format/keys.ts';
import type { TreeRoot } from './disk/tree-root.ts';
import type { InodeNumbers } from './inode-numbers.ts';
import type { JournalRecord } from './journal/records.ts';

/** Entries of a directory that are looked at in one step. */
const STEP = 256;

/**
 * The numbers that are given next, after a restart: above those of the root, and above those of all records since. A number
 * that is given twice would be that of two files, or of bytes that were acknowledged.
 */
export class GivenNumbers {
  readonly #store: bigint;
  readonly #inodes: InodeNumbers;
  /** Of slots, and of data files. */
  nextSequence: number;
  nextNumber: number;

  constructor(root: Pick<TreeRoot, 'store' | 'nextSequence' | 'nextNumber'>, inodes: InodeNumbers) {
    this.#store = root.store;
    this.#inodes = inodes;
    this.nextSequence = root.nextSequence;
    this.nextNumber = root.nextNumber;
  }

  /** In steps: a record may bring a tree. Throws AbsentObject. */
  *noting(source: Source, record: JournalRecord): Generator<void, void, void> {
    if (record.op === 'data') this.#contents(record.key);
    else if (record.op === 'root') yield* this.#tree(source, record.from, record.mine.key);
    else if (record.op === 'put') {
      this.#entry(record.entry);
      if (isDirectory(record.entry)) yield* this.#tree(source, NO_KEY, record.entry.key);
    }
  }

  /** What a tree has and another one has not. Those of the codebase have no numbers of this store. */
  *#tree(source: Source, from: Key, to: Key): Generator<void, void, void> {
    const waiting: [from: Key, to: Key][] = [[from, to]];
    let seen = 0;
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [before, after] = next;
      if (!isLocal(after)) continue;
      for (const { a, b } of differences(source, before, after)) {
        if (b !== undefined) this.#entry(b);
        if (isDirectory(b)) waiting.push([isDirectory(a) ? a.key : NO_KEY, b.key]);
        if (++seen % STEP === 0) yield;
      }
    }
  }

  #entry({ ino, key }: Entry): void {
    this.#inodes.note(ino);
    this.#contents(key);
  }

  #contents(key: Key): void {
    const slot = slotOf(key);
    if (slot?.store === this.#store) this.nextSequence = Math.max(this.nextSequence, slot.sequence + 1);
    const file = fileOf(key);
    if (file?.store === this.#store) this.nextNumber = Math.max(this.nextNumber, file.number + 1);
  }
}

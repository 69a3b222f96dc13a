/** Numbers from `first` to before `end` that nobody else gives, up to `next` given already. */
export interface InodeBlock {
  readonly first: number;
  readonly end: number;
  readonly next: number;
}

/**
 * The inode numbers of new files, from blocks that the codebase leases. So they are unique among all sandboxes of the
 * codebase, and a committed file keeps its own.
 */
export class InodeNumbers {
  readonly #lease: () => { first: number; count: number };
  readonly #blocks: InodeBlock[];

  /** `lease`: another block, durably noted that it is; it may throw. */
  constructor(lease: () => { first: number; count: number }, blocks: readonly InodeBlock[]) {
    this.#lease = lease;
    this.#blocks = [...blocks];
  }

  /** For the root file. */
  get blocks(): readonly InodeBlock[] {
    return this.#blocks;
  }

  next(): number {
    let block = this.#blocks.at(-1);
    if (block === undefined || block.next === block.end) {
      const { first, count } = this.#lease();
      block = { first, end: first + count, next: first };
      this.#blocks.push(block);
    }
    this.#blocks[this.#blocks.length - 1] = { ...block, next: block.next + 1 };
    return block.next;
  }

  /** A record that is replayed has the number: it was given after the blocks were noted. */
  note(ino: number): void {
    const index = this.#blocks.findIndex(({ first, end }) => ino >= first && ino < end);
    const block = this.#blocks[index];
    if (block !== undefined && ino >= block.next) this.#blocks[index] = { ...block, next: ino + 1 };
  }
}

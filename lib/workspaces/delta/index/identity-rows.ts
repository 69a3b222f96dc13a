/** What tells one version of a base file from another: every change through the service makes a new inode. */
export type Identity = [ino: number, mode: number, size: number, mtimeSec: number, mtimeNsec: number];

const FIELDS = 5;
/** Rows of one block: few, so that a small table takes little. */
const BLOCK = 64;

/** Identities as numbers in a row each, outside of the heap: half of what an array of its own would take. */
export class IdentityRows {
  readonly #blocks: Float64Array[] = [];
  /** Rows that were removed. */
  readonly #free: number[] = [];
  #next = 0;

  /** Returns the number of the row. */
  add(identity: Identity): number {
    const row = this.#free.pop() ?? this.#next++;
    const block = Math.floor(row / BLOCK);
    this.#blocks[block] ??= new Float64Array(BLOCK * FIELDS);
    this.#blocks[block].set(identity, (row % BLOCK) * FIELDS);
    return row;
  }

  get(row: number): Identity {
    const block = this.#blocks[Math.floor(row / BLOCK)]!;
    const at = (row % BLOCK) * FIELDS;
    return [block[at]!, block[at + 1]!, block[at + 2]!, block[at + 3]!, block[at + 4]!];
  }

  /** The row is used again. */
  remove(row: number): void {
    this.#free.push(row);
  }
}

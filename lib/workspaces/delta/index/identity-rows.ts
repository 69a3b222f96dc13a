/** Identifies a version of a base file. Every change through the service creates a new inode. */
export type Identity = [ino: number, mode: number, size: number, mtimeSec: number, mtimeNsec: number];

const FIELDS = 5;
/** Rows of one block: few, so that a small table needs little memory. */
const BLOCK = 64;

/** Identities in typed arrays outside of the V8 heap, with half the memory of one array each. */
export class IdentityRows {
  readonly #blocks: Float64Array[] = [];
  /** Removed rows. */
  readonly #free: number[] = [];
  #next = 0;

  /** Adds an identity and returns the number of its row. */
  add(identity: Identity): number {
    const row = this.#free.pop() ?? this.#next++;
    const block = Math.floor(row / BLOCK);
    this.#blocks[block] ??= new Float64Array(BLOCK * FIELDS);
    this.#blocks[block].set(identity, (row % BLOCK) * FIELDS);
    return row;
  }

  /** Returns the identity of a row. */
  get(row: number): Identity {
    const block = this.#blocks[Math.floor(row / BLOCK)]!;
    const at = (row % BLOCK) * FIELDS;
    return [block[at]!, block[at + 1]!, block[at + 2]!, block[at + 3]!, block[at + 4]!];
  }

  /** Frees a row. */
  remove(row: number): void {
    this.#free.push(row);
  }
}

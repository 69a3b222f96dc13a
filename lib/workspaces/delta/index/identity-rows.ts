/** Identifies a version of a base file. Every change through the service creates a new inode. */
export type Identity = [ino: number, mode: number, size: number, mtimeSec: number, mtimeNsec: number];

/** Fields of a row: inode number; mode plus 1, with nanoseconds; size; seconds. The second is 0 for an absent row. */
const FIELDS = 4;
/** Rows of one block: few, so that a small tree needs little memory. */
const BLOCK = 256;
/** Mode and nanoseconds share a field. */
const NSEC_RANGE = 2 ** 30;
/** The second field of a row that hides one of the parent. */
const HIDES = -1;

/** Identities in typed arrays outside of the V8 heap, with a fraction of the memory of one array each. */
export class IdentityRows {
  readonly #blocks: (Float64Array | undefined)[] = [];

  /** Returns the identity of a row; 'hides': it hides one of the parent; undefined: absent. */
  get(row: number): Identity | 'hides' | undefined {
    const block = this.#blocks[Math.floor(row / BLOCK)];
    const at = (row % BLOCK) * FIELDS;
    const modeAndNsec = block?.[at + 1] ?? 0;
    if (block === undefined || modeAndNsec === 0) return undefined;
    if (modeAndNsec === HIDES) return 'hides';
    const mode = Math.floor(modeAndNsec / NSEC_RANGE) - 1;
    return [block[at]!, mode, block[at + 2]!, block[at + 3]!, modeAndNsec % NSEC_RANGE];
  }

  set(row: number, identity: Identity | 'hides' | undefined): void {
    const number = Math.floor(row / BLOCK);
    const block = this.#blocks[number] ?? new Float64Array(BLOCK * FIELDS);
    this.#blocks[number] = block;
    const at = (row % BLOCK) * FIELDS;
    if (typeof identity !== 'object') block[at + 1] = identity === 'hides' ? HIDES : 0;
    else {
      const [ino, mode, size, sec, nsec] = identity;
      block.set([ino, (mode + 1) * NSEC_RANGE + nsec, size, sec], at);
    }
  }

  /** Returns the inode number of an identity; 0 for that of a directory, and for other rows. */
  inoOf(row: number): number {
    const block = this.#blocks[Math.floor(row / BLOCK)];
    const at = (row % BLOCK) * FIELDS;
    return block !== undefined && block[at + 1]! > 0 ? block[at]! : 0;
  }
}

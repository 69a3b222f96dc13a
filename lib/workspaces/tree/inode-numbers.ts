import type { NumberRange } from './disk/tree-root.ts';

/**
 * The inode numbers of new files, from blocks that the codebase leases. So they are unique among all sandboxes of the
 * codebase, and a committed file keeps its own.
 */
export class InodeNumbers {
  readonly #lease: () => NumberRange;
  #left: readonly NumberRange[];

  /** `lease`: another block, durably noted that it is; it may throw. */
  constructor(lease: () => NumberRange, left: readonly NumberRange[]) {
    this.#lease = lease;
    this.#left = left;
  }

  /** What is not given yet, for the root. */
  get left(): readonly NumberRange[] {
    return this.#left;
  }

  next(): number {
    const [first = this.#lease(), ...rest] = this.#left;
    this.#left = withoutEmpty([{ ...first, next: first.next + 1 }, ...rest]);
    return first.next;
  }

  /** A record that is replayed has the number: it was given after the root was written. */
  note(ino: number): void {
    const given = (range: NumberRange) => ino >= range.next && ino < range.end;
    this.#left = withoutEmpty(this.#left.map((range) => (given(range) ? { ...range, next: ino + 1 } : range)));
  }
}

function withoutEmpty(ranges: readonly NumberRange[]): readonly NumberRange[] {
  return ranges.filter(({ next, end }) => next < end);
}

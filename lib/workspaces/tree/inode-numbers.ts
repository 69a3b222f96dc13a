import type { NumberRange } from './disk/tree-root.ts';

/**
 * The inode numbers of new files, from blocks that the codebase leases. So they are unique among all sandboxes of the
 * codebase, and a committed file keeps its own.
 */
export class InodeNumbers {
  readonly #lease: () => NumberRange;
  #left: readonly NumberRange[];
  #own: NumberRange[] = [];

  /** `lease`: another block, durably noted that it is; it may throw. */
  constructor(lease: () => NumberRange, left: readonly NumberRange[]) {
    this.#lease = lease;
    this.#left = left;
  }

  /** What is not given yet, for the root. */
  get left(): readonly NumberRange[] {
    return this.#left;
  }

  /** Numbers of files that nobody else can have: given since `share`, as far as this process knows. */
  get own(): readonly NumberRange[] {
    return this.#own;
  }

  /** At a checkpoint, a fork or a commit: what has a number now, others may have with it. */
  share(): void {
    this.#own = [];
  }

  next(): number {
    const [first = this.#lease(), ...rest] = this.#left;
    this.#give(first.next);
    this.#left = withoutEmpty([{ ...first, next: first.next + 1 }, ...rest]);
    return first.next;
  }

  /** A record that is replayed has the number: it was given after the root was written. */
  note(ino: number): void {
    const given = (range: NumberRange) => ino >= range.next && ino < range.end;
    this.#left = withoutEmpty(this.#left.map((range) => (given(range) ? { ...range, next: ino + 1 } : range)));
  }

  #give(ino: number): void {
    const last = this.#own.at(-1);
    if (last?.end === ino) this.#own[this.#own.length - 1] = { ...last, end: ino + 1 };
    else this.#own.push({ next: ino, end: ino + 1 });
  }
}

function withoutEmpty(ranges: readonly NumberRange[]): readonly NumberRange[] {
  return ranges.filter(({ next, end }) => next < end);
}

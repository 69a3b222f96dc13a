import type { Contents } from '../../totals.ts';

interface Counted {
  files: number;
  directories: number;
  symlinks: number;
  /** Of file contents. */
  bytes: number;
  /** Of targets of symlinks. */
  linkBytes: number;
}

/** What an archive has so far. */
export class StagedCounts {
  readonly #check: (contents: Readonly<Contents>) => void;
  readonly #counted: Counted = { files: 0, directories: 0, symlinks: 0, bytes: 0, linkBytes: 0 };

  /** `check`: throws beyond the limits. */
  constructor(check: (contents: Readonly<Contents>) => void) {
    this.#check = check;
  }

  add(more: Partial<Counted>): void {
    for (const key in more) this.#counted[key as keyof Counted] += more[key as keyof Counted]!;
    this.#check(this.contents);
  }

  /** By the names of the answer. */
  get shown(): { files: number; directories: number; symlinks: number; size: number } {
    const { files, directories, symlinks, bytes } = this.#counted;
    return { files, directories, symlinks, size: bytes };
  }

  /** As the totals of the codebase count them. */
  get contents(): Contents {
    const { files, directories, symlinks, bytes, linkBytes } = this.#counted;
    return { files: files + symlinks, bytes: bytes + linkBytes, directories };
  }
}

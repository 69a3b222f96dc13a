/** So many names are used before one is used again, and as long as they last no other. */
export const NAMES = 1024;

/** Names of the groups of one sandbox: numbers from 1 on. */
export class GroupNames {
  readonly #free: number[] = [];
  #next = 1;

  /** The caller gives it back when nothing refers to the group of this name any more. */
  take(): number {
    const again = this.#next > NAMES ? this.#free.shift() : undefined;
    return again ?? this.#next++;
  }

  give(name: number): void {
    this.#free.push(name);
  }
}

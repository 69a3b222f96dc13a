/** Room for one connection: the descriptor of the program's side, and that of the other side. */
export interface Place {
  /** Gives it back. Idempotent. */
  leave(): void;
}

/**
 * The places for connections of all sandboxes. While there are any, whoever comes gets one. If all are taken, a sandbox that
 * has fewer than another one gets the newest of the one that has most: so no number of sandboxes that take what they can keeps
 * another one from its part.
 */
export class ConnectionPlaces {
  readonly #total: number;
  /** The oldest first. */
  readonly #taken = new Map<string, Set<Place & { cut(): void }>>();
  #count = 0;
  #spare: number;

  /** `spare`: descriptors for second attempts to connect, while the first one is not answered. */
  constructor(total: number, spare = 0) {
    this.#total = total;
    this.#spare = spare;
  }

  /**
   * A place for a connection of the sandbox `holder`; undefined: there is none. `cut` must close its descriptors before it
   * returns, when another sandbox gets the place.
   */
  take(holder: string, cut: () => void): Place | undefined {
    if (this.#count >= this.#total && !this.#cutFor(holder)) return undefined;
    const places = this.#taken.get(holder) ?? new Set();
    const leave = () => {
      if (!places.delete(place)) return;
      this.#count--;
      if (places.size === 0 && this.#taken.get(holder) === places) this.#taken.delete(holder);
    };
    const place = { cut, leave };
    this.#taken.set(holder, places.add(place));
    this.#count++;
    return place;
  }

  #cutFor(holder: string): boolean {
    let most: ReadonlySet<Place & { cut(): void }> = new Set();
    for (const each of this.#taken.values()) if (each.size > most.size) most = each;
    if (most.size <= (this.#taken.get(holder)?.size ?? 0) + 1) return false;
    const newest = [...most].at(-1)!;
    newest.leave();
    newest.cut();
    return true;
  }

  /** A descriptor for one more attempt to connect, until the returned function is called. undefined: there is none. */
  takeSpare(): (() => void) | undefined {
    if (this.#spare <= 0) return undefined;
    this.#spare--;
    let isTaken = true;
    return () => {
      if (isTaken) this.#spare++;
      isTaken = false;
    };
  }
}

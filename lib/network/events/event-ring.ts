import type { NetworkEvent } from '../worker/networks.ts';

/** The last events of one kind. Each has an index: the number of those before it since the beginning. */
export class EventRing {
  readonly #kept: NetworkEvent[] = [];
  readonly #most: number;
  #dropped = 0;
  /** Sequence number of the last one that was dropped. */
  #droppedAt = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(event: NetworkEvent): void {
    this.#kept.push(event);
    if (this.#kept.length <= this.#most) return;
    this.#droppedAt = this.#kept.shift()!.sequence;
    this.#dropped++;
  }

  /**
   * The kept events after a sequence number; `index`: of the first of them. `read`: the events that the reader has seen or
   * knows to be lost, if that is known; without it, `lost` may count some that the reader has seen.
   */
  after(sequence: number, read: number | undefined): { events: NetworkEvent[]; index: number; lost: number } {
    const events = this.#kept.filter((each) => each.sequence > sequence);
    const index = this.#dropped + this.#kept.length - events.length;
    if (read !== undefined) return { events, index, lost: Math.max(0, index - read) };
    const missing = sequence === 0 ? 0 : Math.max(0, this.#droppedAt - sequence);
    return { events, index, lost: Math.min(this.#dropped, missing) };
  }
}

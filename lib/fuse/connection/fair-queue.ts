/**
 * Most milliseconds that one item is charged. A flow whose item takes long, which may be the work of several callers, would
 * otherwise wait for that time once for each other flow.
 */
const MOST_CHARGED_MS = 20;

/** The items of one flow, in order of arrival. */
interface Flow<T> {
  readonly key: unknown;
  readonly items: T[];
  /** Virtual time at which its next item begins: the time that it has had, in ms. */
  start: number;
}

/**
 * Items of several flows in turn: the flow that has had the least time is served next (start-time fair queueing). One that
 * had no items saves up no time, so a flow with many items delays one with few by one item at most. Items of one flow keep
 * their order.
 *
 * Source: https://doi.org/10.1109/90.649569
 */
export class FairQueue<T> {
  readonly #flows = new Map<unknown, Flow<T>>();
  #served: Flow<T> | undefined;
  /** Virtual time: the start of the item that was served last. */
  #now = 0;
  #size = 0;

  /** Number of items. */
  get size(): number {
    return this.#size;
  }

  /** Appends an item to a flow, which any value identifies. */
  add(key: unknown, item: T): void {
    this.#size++;
    // Usually the only flow that has items.
    const served = this.#served;
    const flow = served !== undefined && served.key === key ? served : this.#flowOf(key);
    if (flow.items.length === 0) flow.start = Math.max(flow.start, this.#now);
    flow.items.push(item);
  }

  /** All items, in no order. */
  *items(): Iterable<T> {
    for (const { items } of this.#flows.values()) yield* items;
  }

  /** Removes and returns the next item. `spent` is called when it has been served. */
  next(): T | undefined {
    let first: Flow<T> | undefined;
    for (const flow of this.#flows.values()) {
      if (flow.items.length > 0) {
        if (first === undefined || flow.start < first.start) first = flow;
      } else if (flow.start <= this.#now) this.#flows.delete(flow.key);
    }
    this.#served = first;
    if (first === undefined) return undefined;
    this.#now = first.start;
    this.#size--;
    return first.items.shift();
  }

  /** Counts the time in ms that the last item took. */
  spent(milliseconds: number): void {
    if (this.#served !== undefined) this.#served.start += Math.min(milliseconds, MOST_CHARGED_MS);
  }

  #flowOf(key: unknown): Flow<T> {
    const known = this.#flows.get(key);
    if (known !== undefined) return known;
    const flow = { key, items: [], start: this.#now };
    this.#flows.set(key, flow);
    return flow;
  }
}

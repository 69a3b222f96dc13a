/** Whose memory it is. Without a key, `owner` and `key` are empty. */
export interface Sender {
  owner: string;
  key: string;
  connection: object;
}

/** The memory of one request, or of one answer. */
interface Place {
  readonly bytes: number;
  /** May cut this one or another one. */
  set(bytes: number): void;
  leave(): void;
}

/**
 * Memory that callers fill, of all doors together. If there is more than `max`, one is cut: the largest of the connection with
 * most, of the key with most, of the owner with most. So nobody can take what others need, however many connections, streams
 * and keys it uses: who holds less than others is never cut.
 */
export class FairMemory {
  readonly #all = new Holder(undefined, undefined);
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get bytes(): number {
    return this.#all.bytes;
  }

  /** `cut` drops what is held; it has left then. */
  begin({ owner, key, connection }: Sender, cut: (bytes: number) => void): Place {
    const outer = this.#all.inner(owner).inner(key).inner(connection);
    const held = new Holder(outer, cut);
    outer.within.set(held, held);
    return {
      get bytes() {
        return held.bytes;
      },
      set: (bytes) => {
        if (held.gone) return;
        held.set(bytes);
        this.#keepWithin();
      },
      leave: () => held.leave(),
    };
  }

  #keepWithin(): void {
    while (this.#all.bytes > this.#max) {
      const largest = this.#all.largest();
      const { bytes } = largest;
      largest.leave();
      largest.cut?.(bytes);
    }
  }
}

/** Everything, what is held of an owner, of a key, of a connection, or one of these. */
class Holder {
  bytes = 0;
  gone = false;
  readonly within = new Map<unknown, Holder>();
  readonly cut: ((bytes: number) => void) | undefined;
  readonly #outer: Holder | undefined;
  #name: unknown = this;

  constructor(outer: Holder | undefined, cut: ((bytes: number) => void) | undefined) {
    this.#outer = outer;
    this.cut = cut;
  }

  inner(name: unknown): Holder {
    const known = this.within.get(name);
    if (known !== undefined) return known;
    const added = new Holder(this, undefined);
    added.#name = name;
    this.within.set(name, added);
    return added;
  }

  set(bytes: number): void {
    const more = bytes - this.bytes;
    for (let each: Holder | undefined = this; each !== undefined; each = each.#outer) each.bytes += more;
  }

  /** Removes it, and what has nothing else in it. */
  leave(): void {
    if (this.gone) return;
    this.gone = true;
    this.set(0);
    let each: Holder = this;
    while (each.#outer !== undefined && each.within.size === 0) {
      each.#outer.within.delete(each.#name);
      each = each.#outer;
    }
  }

  largest(): Holder {
    let at: Holder = this;
    while (at.within.size > 0) {
      let most: Holder | undefined;
      for (const each of at.within.values()) if (most === undefined || each.bytes > most.bytes) most = each;
      at = most!;
    }
    return at;
  }
}

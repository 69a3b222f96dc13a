import { OWN_ADDRESS } from '../namespace/program.ts';

/** 198.18.0.0/15, which no host of the Internet has (RFC 2544). */
const FIRST = (198 << 24) | (18 << 16);
const COUNT = 1 << 17;
/** Names of one sandbox that have an address at once. More than it has connections. */
const MAX_NAMES = 1024;

interface Entry {
  name: string;
  address: string;
  /** Connections. */
  open: number;
}

/**
 * The addresses that stand for names in one sandbox. The table is bounded: a new name takes the place of the name that was
 * not used for longest and has no connection. Addresses are given in a circle, so that a program that kept an old one
 * reaches nothing rather than another name.
 */
export class FakeAddresses {
  /** Longest unused first. */
  readonly #byName = new Map<string, Entry>();
  readonly #byAddress = new Map<string, Entry>();
  readonly #maxNames: number;
  #next = 1;

  constructor(maxNames = MAX_NAMES) {
    this.#maxNames = maxNames;
  }

  static contains(address: string): boolean {
    return address.startsWith('198.18.') || address.startsWith('198.19.');
  }

  /** The address of the name. undefined: the table is full of names with connections. */
  take(name: string): string | undefined {
    const known = this.#byName.get(name);
    if (known) {
      this.#touch(known);
      return known.address;
    }
    if (this.#byName.size >= this.#maxNames && !this.#evict()) return undefined;
    const entry = { name, address: this.#free(), open: 0 };
    this.#byName.set(name, entry);
    this.#byAddress.set(entry.address, entry);
    return entry.address;
  }

  nameOf(address: string): string | undefined {
    return this.#byAddress.get(address)?.name;
  }

  /** Keeps the address for its name until the returned function is called. */
  hold(address: string): () => void {
    const entry = this.#byAddress.get(address);
    if (!entry) return () => undefined;
    entry.open++;
    this.#touch(entry);
    return () => {
      entry.open--;
    };
  }

  #touch(entry: Entry): void {
    this.#byName.delete(entry.name);
    this.#byName.set(entry.name, entry);
  }

  #evict(): boolean {
    for (const entry of this.#byName.values()) {
      if (entry.open > 0) continue;
      this.#byName.delete(entry.name);
      this.#byAddress.delete(entry.address);
      return true;
    }
    return false;
  }

  /** There are more addresses than names. */
  #free(): string {
    for (;;) {
      const address = text(FIRST + this.#next);
      this.#next = (this.#next % (COUNT - 2)) + 1;
      if (!this.#byAddress.has(address) && address !== OWN_ADDRESS) return address;
    }
  }
}

function text(address: number): string {
  return [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255].join('.');
}

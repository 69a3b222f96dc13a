import type { Runtime as RuntimeName } from '../../contract/messages.ts';
import { type Code, ServiceError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { Calls } from './calls.ts';
import type { ReadyKind } from './kind.ts';
import { Stock, type StockParts, type Taken } from './stock.ts';

export interface ReadyParts extends Pick<StockParts, 'mount' | 'uids' | 'most' | 'log' | 'now'> {
  /** The runtime of the sandboxes. */
  runtime(name: RuntimeName): Promise<Pick<Runtime, 'prepare'>>;
}

/** Errors of a creation that say nothing about the resources of this machine. */
const OF_THE_REQUEST: readonly Code[] = ['INVALID_ARGUMENT', 'NOT_FOUND', 'FAILED_PRECONDITION'];

/**
 * Sandboxes made ahead while no call begins or ends: namespaces, cgroups, uid, agent, and an empty place in the mount. Each is
 * used for one creation at most and never given back. They exist in memory only: what a killed server leaves of them is named
 * and removed like the remains of sandboxes.
 */
export class ReadySandboxes {
  readonly #parts: ReadyParts;
  readonly #calls: Calls;
  readonly #stocks = new Map<RuntimeName, Stock>();
  #closed = false;

  constructor(parts: ReadyParts) {
    this.#parts = parts;
    this.#calls = new Calls(parts.now);
  }

  /** One for a new sandbox of this kind, if there is one; the caller owns it, and its uid. */
  take(kind: ReadyKind | undefined): Taken | undefined {
    if (kind === undefined || this.#closed) return undefined;
    return this.#stocks.get(kind.runtime)?.take(kind.resources);
  }

  /** Reports a creation, from now until it has settled. Passes it on. */
  async creating<T>(creation: Promise<T>, kind: ReadyKind | undefined): Promise<T> {
    const ended = this.#calls.creation();
    try {
      const created = await creation;
      if (kind !== undefined) this.#created(kind);
      return created;
    } catch (error) {
      // Users of a small range, descriptors and memory are for sandboxes that exist.
      if (!(error instanceof ServiceError) || !OF_THE_REQUEST.includes(error.code)) this.#discardAll();
      throw error;
    } finally {
      ended();
      if (this.#parts.uids.free < 2 * this.#parts.most) this.#discardAll();
    }
  }

  #created(kind: ReadyKind): void {
    if (this.#closed) return;
    const stock = this.#stocks.get(kind.runtime) ?? this.#newStock(kind);
    stock.created(kind.resources);
    // What others have beyond their share is in the way of this one's.
    for (const each of this.#stocks.values()) if (each !== stock) each.shrink();
    stock.schedule();
  }

  /** Reports that a call begins or ends. */
  call(): void {
    this.#calls.note();
  }

  /** Call when the mount has failed. */
  lost(): void {
    for (const each of this.#stocks.values()) each.lost();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#stocks.values()].map((each) => each.close()));
  }

  #discardAll(): void {
    for (const each of this.#stocks.values()) each.discardAll();
  }

  #newStock({ runtime: name, image }: ReadyKind): Stock {
    const { runtime, ...parts } = this.#parts;
    const stock: Stock = new Stock({
      ...parts,
      calls: this.#calls,
      share: () => this.#shareOf(stock),
      isFull: () => [...this.#stocks.values()].reduce((sum, { count }) => sum + count, 0) >= parts.most,
      prepare: async (spec) => {
        const found = await runtime(name);
        if (found.prepare === undefined) throw new Error('the runtime makes none');
        return found.prepare({ ...spec, image });
      },
    });
    this.#stocks.set(name, stock);
    return stock;
  }

  /** In proportion to what each stock wants, if that is more than the maximum. */
  #shareOf({ wanted }: Stock): number {
    const sum = [...this.#stocks.values()].reduce((all, each) => all + each.wanted, 0);
    return sum <= this.#parts.most ? wanted : Math.floor((wanted * this.#parts.most) / sum);
  }
}

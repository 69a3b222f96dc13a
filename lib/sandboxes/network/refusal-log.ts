import type { DeniedHost } from '../../contract/messages.ts';
import type { Refusal } from '../../network/worker/networks.ts';
import type { NetworkWatch } from './network-watch.ts';

/** Hosts in one answer. */
const MOST_SHOWN = 50;
/** Of hosts that are kept: the last ones. */
const MOST_KEPT = 1000;

/** What the network of a sandbox has refused, each host and port once. It is asked for what is new only. */
export class RefusalLog {
  readonly #fetch: (since: number) => Promise<Refusal[]>;
  /** The last refusal of each, the latest at the end. */
  readonly #last = new Map<string, Refusal>();
  #sequence = 0;
  /** Those that read its events now. */
  readonly watches = new Set<NetworkWatch>();
  isClosed = false;

  constructor(fetch: (since: number) => Promise<Refusal[]>) {
    this.#fetch = fetch;
  }

  /** Ends the watches, before the network is closed: they have what happened until then. Never rejects. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.watches].map((watch) => watch.close()));
  }

  /** Those since a time in milliseconds, in the order of their last refusals. Never rejects: without a network none. */
  async since(time: number): Promise<DeniedHost[]> {
    const fresh = await this.#fetch(this.#sequence).catch(() => []);
    for (const refusal of fresh) this.#add(refusal);
    const found = [...this.#last.values()].filter(({ at }) => at >= time);
    return found.slice(-MOST_SHOWN).map(({ host, address, port, code, reason }) => ({
      host: host || address,
      port,
      code,
      reason,
      address,
    }));
  }

  /** Two questions at once get the same refusals. */
  #add(refusal: Refusal): void {
    if (refusal.sequence <= this.#sequence) return;
    this.#sequence = refusal.sequence;
    const key = `${refusal.host || refusal.address} ${refusal.port} ${refusal.code}`;
    this.#last.delete(key);
    this.#last.set(key, refusal);
    if (this.#last.size > MOST_KEPT) this.#last.delete(this.#last.keys().next().value!);
  }
}

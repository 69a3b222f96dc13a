import type { DeniedHost } from '../../contract/messages.ts';
import type { Refusal } from '../../network/worker/networks.ts';

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

  constructor(fetch: (since: number) => Promise<Refusal[]>) {
    this.#fetch = fetch;
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

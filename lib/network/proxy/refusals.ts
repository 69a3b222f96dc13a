import type { Target } from '../policy/policy.ts';
import type { Refusal } from '../worker/networks.ts';

const MAX_KEPT = 1000;
/** Of a host and of a reason: programs choose what they ask for. */
const MAX_LENGTH = { host: 255, reason: 1000 };

/** The refusals of one sandbox: equal ones count together. The oldest are dropped. */
export class Refusals {
  /** In the order of sequence numbers. */
  readonly #kept = new Map<string, Refusal>();
  #sequence: number;

  /** `start`: sequence numbers are above it. */
  constructor(start: number) {
    this.#sequence = start;
  }

  add({ host: name = '', address = '', port }: Target, protocol: string, code: string, text: string): void {
    const [host, reason] = [name.slice(0, MAX_LENGTH.host), text.slice(0, MAX_LENGTH.reason)];
    const key = `${host || address} ${port} ${code}`;
    const count = (this.#kept.get(key)?.count ?? 0) + 1;
    this.#kept.delete(key);
    const sequence = ++this.#sequence;
    this.#kept.set(key, { sequence, at: Date.now(), host, address, port, protocol, code, reason, count });
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value as string);
  }

  since(sequence: number): Refusal[] {
    return [...this.#kept.values()].filter((each) => each.sequence > sequence);
  }
}

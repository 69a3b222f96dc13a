import type { Sequence } from '../events/sequence.ts';
import type { Target } from '../policy/policy.ts';
import type { ConnectionInfo, Refusal, RefusedInfo } from '../worker/networks.ts';

const MAX_KEPT = 1000;
/** Of a host and of a reason: programs choose what they ask for. */
const MAX_LENGTH = { host: 255, reason: 1000 };
/** Milliseconds. A resolver asks for several types, and again; an event for each would say nothing more. */
const MIN_TOLD = 1000;

interface Kept extends Refusal {
  /** Time of its last event. */
  toldAt: number;
}

/** The refusals of one sandbox: equal ones count together. The oldest are dropped. */
export class Refusals {
  /** In the order of sequence numbers. */
  readonly #kept = new Map<string, Kept>();
  readonly #sequence: Sequence;
  readonly #tell: (refused: RefusedInfo) => void;

  /** `tell`: is told each refusal, and equal ones once in a second. */
  constructor(sequence: Sequence, tell: (refused: RefusedInfo) => void) {
    this.#sequence = sequence;
    this.#tell = tell;
  }

  add({ host: name = '', address = '', port }: Target, protocol: string, code: string, text: string): void {
    const [host, reason] = [name.slice(0, MAX_LENGTH.host), text.slice(0, MAX_LENGTH.reason)];
    const key = keyOf({ host, address, port, code });
    const before = this.#kept.get(key);
    const count = (before?.count ?? 0) + 1;
    const at = Date.now();
    const isTold = before !== undefined && before.reason === reason && Math.abs(at - before.toldAt) < MIN_TOLD;
    const toldAt = isTold ? before.toldAt : at;
    this.#kept.delete(key);
    const refusal = { sequence: this.#sequence.next(), at, host, address, port, protocol, code, reason, count, toldAt };
    this.#kept.set(key, refusal);
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value as string);
    if (!isTold) this.#tell(infoOf(refusal));
  }

  since(sequence: number): Refusal[] {
    return [...this.#kept.values()].filter((each) => each.sequence > sequence);
  }

  /** Those that are none of the connections: of names, of requests, and where no connection was taken. */
  besides(connections: readonly ConnectionInfo[]): RefusedInfo[] {
    const known = new Set(connections.filter(({ allowed }) => !allowed).map(keyOf));
    return [...this.#kept].filter(([key]) => !known.has(key)).map(([, refusal]) => infoOf(refusal));
  }
}

function keyOf({ host, address, port, code }: Pick<Refusal, 'host' | 'address' | 'port' | 'code'>): string {
  return `${host || address} ${port} ${code}`;
}

function infoOf({ at, toldAt: _, ...same }: Kept): RefusedInfo {
  return { ...same, allowed: false, rule: undefined, sent: 0, received: 0, openedAt: at, closedAt: at };
}

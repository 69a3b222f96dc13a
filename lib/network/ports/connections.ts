import { ServiceError } from '../../errors.ts';
import type { Shares } from '../../shares.ts';

type Cut = (reason: ServiceError) => void;

/** Connections through one opened port at the same time. */
const MAX_PER_PORT = 128;
/** A timer of Node has at most 2^31 - 1 ms; a longer one fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The connections through opened ports, by port. They are cut when their port is closed, is opened anew, or expires. */
export class PortConnections {
  readonly #now: () => number;
  readonly #descriptors: Shares<string>;
  readonly #open = new Map<string, Set<Cut>>();
  #cuts = 0;

  /** `now`: wall-clock time in milliseconds since the epoch. `descriptors`: of each sandbox, one for a connection. */
  constructor(now: () => number, descriptors: Shares<string>) {
    this.#now = now;
    this.#descriptors = descriptors;
  }

  /**
   * Counts a connection until the returned function is called. Throws RESOURCE_EXHAUSTED. `expiresAt`: Unix time in seconds at
   * which it is cut; 0: never.
   */
  add(sandboxId: string, port: number, expiresAt: number, cut: Cut): () => void {
    const key = keyOf(sandboxId, port);
    const connections = this.#open.get(key) ?? new Set();
    if (connections.size >= MAX_PER_PORT) {
      throw new ServiceError('RESOURCE_EXHAUSTED', `port ${port} has ${MAX_PER_PORT} connections, the maximum`);
    }
    if (!this.#descriptors.take(sandboxId, 1)) {
      const problem = `the server has no descriptors left for another connection to port ${port} of this sandbox; try again`;
      throw new ServiceError('RESOURCE_EXHAUSTED', problem);
    }
    this.#open.set(key, connections);
    connections.add(cut);
    const timer = { current: undefined as NodeJS.Timeout | undefined };
    if (expiresAt !== 0) this.#cutAt(expiresAt * 1000, timer, () => cut(closed(port, 'has expired')));
    return () => {
      clearTimeout(timer.current);
      this.#descriptors.give(sandboxId, 1);
      connections.delete(cut);
      if (connections.size === 0 && this.#open.get(key) === connections) this.#open.delete(key);
    };
  }

  /** How many ports were cut: a connection from before that is not one of now. */
  get cuts(): number {
    return this.#cuts;
  }

  /** Cuts all connections of a port. */
  cut(sandboxId: string, port: number): void {
    this.#cuts++;
    const connections = this.#open.get(keyOf(sandboxId, port)) ?? [];
    this.#open.delete(keyOf(sandboxId, port));
    for (const cut of connections) cut(closed(port, 'was closed'));
  }

  #cutAt(at: number, timer: { current: NodeJS.Timeout | undefined }, cut: () => void): void {
    const check = () => (this.#now() < at ? this.#cutAt(at, timer, cut) : cut());
    timer.current = setTimeout(check, Math.min(Math.max(at - this.#now(), 1), LONGEST_TIMER));
    timer.current.unref();
  }
}

function closed(port: number, what: string): ServiceError {
  return new ServiceError('UNAVAILABLE', `port ${port} ${what}`);
}

const keyOf = (sandboxId: string, port: number) => `${sandboxId}:${port}`;

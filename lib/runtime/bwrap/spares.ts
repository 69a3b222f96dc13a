import type { ResourceLimits } from '../../messages.ts';
import type { Launcher } from './launcher.ts';

/** Each is a waiting shell of about 200 kB and four empty cgroups. */
const COUNT = 2;
/** After the last launch before one is made; it takes a few milliseconds of the event loop, which no create waits for. */
const IDLE_MS = 5;

/**
 * Launchers made ahead. To start a shell and to have it enter its cgroups (the kernel waits for an RCU grace period) is
 * half of what bringing a sandbox up takes. They are for sandboxes with the limits of the last one, which are most
 * often the configured ones; another has a launcher made for it.
 */
export class Spares {
  readonly #make: (resources: ResourceLimits) => Launcher;
  readonly #onError: (error: unknown) => void;
  #spares: Launcher[] = [];
  #resources: ResourceLimits | undefined;
  #launching = 0;
  #timer: NodeJS.Timeout | undefined;
  #discarding = new Set<Promise<void>>();

  /** `make` may throw: there is no spare then, and the next launch tells its caller why. */
  constructor(make: (resources: ResourceLimits) => Launcher, onError: (error: unknown) => void) {
    this.#make = make;
    this.#onError = onError;
  }

  /** One in cgroups of exactly these limits; undefined: none is ready. To be followed by `launched`. */
  take(resources: ResourceLimits): Launcher | undefined {
    this.#launching++;
    clearTimeout(this.#timer);
    if (!equal(resources, this.#resources)) {
      this.#discardAll();
      this.#resources = { ...resources };
      return undefined;
    }
    for (let spare = this.#spares.shift(); spare; spare = this.#spares.shift()) {
      if (spare.alive) return spare;
      this.#discard(spare);
    }
    return undefined;
  }

  /** The launch has come to its end, a good one or not. */
  launched(): void {
    this.#launching--;
    this.#schedule();
  }

  /** Ends all and makes no more until the next launch. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#resources = undefined;
    this.#discardAll();
    await Promise.all(this.#discarding);
  }

  /** One at a time, and none while a sandbox comes up. */
  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#launching > 0 || this.#spares.length >= COUNT || !this.#resources) return;
    this.#timer = setTimeout(() => this.#refill(), IDLE_MS);
    this.#timer.unref();
  }

  #refill(): void {
    if (!this.#resources) return;
    try {
      this.#spares.push(this.#make(this.#resources));
    } catch (error) {
      this.#onError(error);
      return;
    }
    this.#schedule();
  }

  #discardAll(): void {
    for (const spare of this.#spares) this.#discard(spare);
    this.#spares = [];
  }

  #discard(spare: Launcher): void {
    const discarding = spare.discard().catch(this.#onError);
    this.#discarding.add(discarding);
    void discarding.then(() => this.#discarding.delete(discarding));
  }
}

function equal(a: ResourceLimits, b: ResourceLimits | undefined): boolean {
  return (
    a.memory_bytes === b?.memory_bytes &&
    a.cpu_quota === b.cpu_quota &&
    a.cpu_shares === b.cpu_shares &&
    a.pids_limit === b.pids_limit
  );
}
